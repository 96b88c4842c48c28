/** Waiting for a child that has only just been started, which takes its time on a busy machine. */
import type { ChildMessage, TestChild } from '../../harness/child-process.ts';

/** Room for a child's start, beside what the test itself takes. */
export const WITH_CHILDREN_MS = 90_000;

/** The first matching message; has twice the patience of `child.next`, unless the child has ended. */
export function firstWord(
  child: TestChild,
  predicate: (message: ChildMessage) => boolean,
): Promise<ChildMessage> {
  return child.next(predicate).catch(() => child.next(predicate));
}
