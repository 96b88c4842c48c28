/** Callers that wait for permits, as the models of both kinds of semaphore have them. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { eventually } from '../../harness/wait.ts';
import { type StepMaker, who } from './steps.ts';

/** @typeParam T what the caller gets */
export interface Waiter<T> {
  readonly count: number;
  readonly giveUp: AbortController;
  state: 'waiting' | 'taken' | 'gone';
  got: T | undefined;
}

export interface ModelWithWaiters {
  /** How many are free; null when there is no semaphore. */
  free: number | null;
  waiters: number;
}

/** The permits that waiters took since the model last heard of them. */
export function takenBy(waiters: readonly Waiter<unknown>[]): number {
  return waiters.reduce((sum, { count, state }) => (state === 'taken' ? sum + count : sum), 0);
}

/**
 * Takes the permits of all waiters that were served off the model, if that is what the server has, and if no other
 * waiter waits for what is there.
 *
 * @param free what the server has
 * @returns the waiters that were served
 */
export function serve<T>(
  model: ModelWithWaiters,
  waiters: Waiter<T>[],
  free: number | null,
): readonly Waiter<T>[] {
  const served = waiters.filter(({ state }) => state === 'taken');
  const waiting = waiters.filter(({ state }) => state === 'waiting');
  const expected = model.free === null ? null : model.free - takenBy(waiters);
  expect(free).toBe(expected);
  for (const { count } of waiting) expect(count).toBeGreaterThan(free ?? 0);
  model.free = expected;
  model.waiters = waiting.length;
  waiters.splice(0, waiters.length, ...waiting);
  return served;
}

/** Callers come and wait, and give up. */
export function waitingSteps<T, M extends ModelWithWaiters, R extends { readonly waiters: Waiter<T>[] }>(
  step: StepMaker<M, R>,
  counts: fc.Arbitrary<number>,
  ask: (real: R, by: number, count: number, limits: { waitMs?: number; signal: AbortSignal }) => Promise<T>,
): fc.Arbitrary<fc.AsyncCommand<M, R>>[] {
  return [
    fc.tuple(who, counts, fc.constantFrom('acquire', 'tryAcquire', 'parallel')).map(([by, count, how]) =>
      step(`${by} waits for ${count} by ${how}`, async (_model, real) => {
        const giveUp = new AbortController();
        const { signal } = giveUp;
        for (let i = 0; i < (how === 'parallel' ? 3 : 1); i += 1) {
          const waiter: Waiter<T> = { count, giveUp, state: 'waiting', got: undefined };
          real.waiters.push(waiter);
          void ask(real, by, count, how === 'tryAcquire' ? { waitMs: 60_000, signal } : { signal }).then(
            (got) => {
              waiter.got = got;
              waiter.state = 'taken';
            },
            (reason: unknown) => {
              expect(reason).toBe(signal.reason);
              waiter.state = 'gone';
            },
          );
        }
      }),
    ),
    fc.nat({ max: 9 }).map((index) =>
      step(
        `waiter ${index} gives up`,
        async (_model, real) => {
          const waiter = real.waiters[index % real.waiters.length] as Waiter<T>;
          waiter.giveUp.abort(new Error('enough'));
          await eventually(() => waiter.state === 'gone');
        },
        (model) => model.waiters > 0,
      ),
    ),
  ];
}

/** To be called when a sequence of steps is over. */
export function sendAway(waiters: readonly { readonly giveUp: AbortController }[]): void {
  for (const { giveUp } of waiters) giveUp.abort(new Error('over'));
}
