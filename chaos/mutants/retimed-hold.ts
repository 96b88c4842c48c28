/** A hold of a client that reckons its time in another way than holdfast does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdable } from '../../src/testing/history/recorder.ts';

/** What scenarios use of a hold. */
export interface PlainHold extends Holdable {
  readonly owner: string;
  unlock(): Promise<boolean>;
}

export interface Reckoning {
  /** Until when the holder relies on it, by `performance.now()`. */
  readonly deadlineAt: number;
  /** When the holder is told of the loss. */
  readonly told: Promise<unknown>;
}

/** The same hold with another deadline, and another moment at which its signal aborts. */
export function retimed(
  { owner, unlock }: Pick<PlainHold, 'owner' | 'unlock'>,
  { deadlineAt, told }: Reckoning,
): PlainHold {
  const controller = new AbortController();
  void told.then(() => controller.abort({ reason: 'expired' }));
  return {
    owner,
    unlock,
    signal: controller.signal,
    get remainingMs() {
      return deadlineAt - performance.now();
    },
  };
}

/** Resolves when the moment has come. */
export function at(moment: number): Promise<void> {
  return sleep(Math.max(0, moment - performance.now()));
}
