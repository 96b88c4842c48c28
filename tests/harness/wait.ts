/** Waiting for a condition that no event announces: polled, with a bound. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/**
 * Calls `check` until it neither throws nor answers false, and resolves to its answer. After `withinMs`
 * it rejects with what the last call threw.
 */
export async function eventually<Answer>(
  check: () => Answer | Promise<Answer>,
  { withinMs = 5_000, everyMs = 5 }: EventuallyOptions = {},
): Promise<Answer> {
  const endsAt = performance.now() + withinMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await check();
      if (answer !== false) return answer;
      last = new Error('The condition stayed false');
    } catch (error) {
      last = error;
    }
    if (performance.now() >= endsAt) throw withTime(last, withinMs);
    await sleep(everyMs);
  }
}

/** Keeps the error itself, and with it the difference that an assertion carries. */
function withTime(error: unknown, withinMs: number): unknown {
  if (error instanceof Error) error.message += `\n(still so after ${withinMs} ms)`;
  return error;
}
