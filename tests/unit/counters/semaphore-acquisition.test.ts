/** An attempt to acquire permits that the server does not answer is repeated for an hour, and not for longer. */
import { describe, expect, it } from 'vitest';
import { SemaphoreAcquisition } from '../../../src/counters/semaphore-acquisition.ts';
import type { SemaphoreCounter } from '../../../src/counters/semaphore-counter.ts';
import { SemaphoreCreation } from '../../../src/counters/semaphore-creation.ts';
import { OutcomeUnknownError } from '../../../src/errors.ts';
import { Bench } from '../support/bench.ts';
import { reset, unreachable, watchPromise } from '../support/deferred.ts';

const HOUR_MS = 3_600_000;

/** One caller without a limit, which was told that there are too few permits, and then hears nothing more. */
async function setUp() {
  const { clock, runtime } = new Bench();
  const asked: { readonly answer: string; readonly takenMs: number }[] = [];
  const undone: string[] = [];
  let reply: () => Promise<object> = async () => ({ status: 'short', left: 0 });
  const ask = (
    _counter: unknown,
    _script: unknown,
    { answer }: { answer: string },
    args: { takenMs: number },
  ) => {
    asked.push({ answer, takenMs: args.takenMs });
    return reply();
  };
  // What no acquisition reads is left out.
  const counter = {
    kind: 'semaphore',
    name: 's',
    key: 's',
    identity: 'semaphore s',
    keys: { permits: 's' },
    wake: { publish: 'PUBLISH', channel: 'ch' },
    requests: { nextAnswerKey: () => `answer ${asked.length}` },
    requestWith: () => async (memory: { answer: string }) => {
      undone.push(memory.answer);
      return { status: 'barred' };
    },
    changed() {},
    context: {
      runtime,
      wire: { rememberMs: 6_000, grantSender: { isOneCommand: () => true, permits: ask } },
      answerRetention: { arrived() {} },
    },
  } as unknown as SemaphoreCounter;
  const creation = new SemaphoreCreation(counter, undefined, async () => null);
  const acquisition = new SemaphoreAcquisition(counter, creation, 1, undefined);
  const taken = watchPromise(acquisition.take({ waitMs: Number.POSITIVE_INFINITY }));
  await clock.advance(0);
  return {
    clock,
    asked,
    undone,
    taken,
    /** The server answers nothing any more; the next attempt is a new one. */
    async fallsSilent(error: () => Error) {
      reply = () => Promise.reject(error());
      const before = asked.length;
      while (asked.length === before) await clock.advance(1_000);
      return asked.at(-1)?.answer as string;
    },
    answers(answer: object) {
      reply = async () => answer;
    },
  };
}

describe('an attempt that may have run', () => {
  it('is repeated for an hour, then undone, and its caller is told that its outcome is unknown', async () => {
    const { clock, asked, undone, taken, fallsSilent } = await setUp();
    const attempt = await fallsSilent(reset);
    clock.suspend(HOUR_MS - 10_000);
    await clock.advance(5_000);
    expect(asked.at(-1)?.answer).toBe(attempt);
    expect(taken.state).toBe('pending');

    clock.suspend(5_000);
    const before = asked.length;
    await clock.advance(2_000);
    expect(asked).toHaveLength(before);
    expect(taken.error).toBeInstanceOf(OutcomeUnknownError);
    expect(undone).toEqual([attempt]);
  });

  it('is remembered until it can no longer be undone', async () => {
    const { asked } = await setUp();
    expect(asked[0]?.takenMs).toBeGreaterThan(2 * HOUR_MS);
  });
});

describe('an attempt that certainly has not run', () => {
  it('is repeated for as long as the outage lasts', async () => {
    const { clock, undone, taken, fallsSilent, answers } = await setUp();
    await fallsSilent(unreachable);
    clock.suspend(2 * HOUR_MS);
    await clock.advance(5_000);
    expect(taken.state).toBe('pending');
    answers({ status: 'taken' });
    await clock.advance(5_000);
    expect(taken).toMatchObject({ state: 'resolved', value: true });
    expect(undone).toEqual([]);
  });
});
