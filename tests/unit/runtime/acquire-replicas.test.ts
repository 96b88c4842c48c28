/** Grants that too few replicas have: they did happen, and are undone once. */
import { describe, expect, it } from 'vitest';
import { type HoldfastError, ReplicationError } from '../../../src/errors.ts';
import { type Answer, HandDrivenAcquisition } from '../support/acquisition.ts';
import { Bench } from '../support/bench.ts';
import { refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

const GRANTED: Answer = 'granted';
const BUSY: Answer = 1_000;

function tooFew(cause?: unknown): ReplicationError {
  return new ReplicationError('it', 0, 1, cause === undefined ? undefined : { cause });
}

function setUp() {
  const bench = new Bench();
  bench.driver.answersAtOnce = true;
  const log: string[] = [];
  /** What the attempts are answered; the last one again and again. */
  const answers: (Answer | Error)[] = [];
  const hands = {
    what: 'acquire it',
    attempt: async () => {
      log.push('attempt');
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    },
    abandon: () => log.push('abandon'),
    withdraw: () => log.push('withdraw'),
  };
  const start = (waitMs = Number.POSITIVE_INFINITY, signal?: AbortSignal) => {
    return watchPromise(new HandDrivenAcquisition(bench.runtime, 'line', hands).take({ waitMs, signal }));
  };
  const undone = () => log.filter((what) => what === 'abandon').length;
  return { answers, bench, clock: bench.clock, log, start, undone };
}

describe('a grant that too few replicas acknowledged', () => {
  it('rejects at once, and is undone once', async () => {
    const { answers, clock, log, start } = setUp();
    const error = tooFew();
    answers.push(error);
    const outcome = start();
    await clock.advance(60_000);
    expect(outcome.error).toBe(error);
    expect(log).toEqual(['attempt', 'abandon']);
  });

  it('because the server refuses WAIT rejects at once, and is undone once', async () => {
    const { answers, clock, log, start } = setUp();
    const error = tooFew(refusal());
    answers.push(error);
    const outcome = start();
    await clock.advance(60_000);
    expect(outcome.error).toBe(error);
    expect(log).toEqual(['attempt', 'abandon']);
  });

  it('of one try is undone once as well', async () => {
    const { answers, clock, start, undone } = setUp();
    answers.push(tooFew());
    const outcome = start(0);
    await clock.advance(0);
    expect(outcome.state).toBe('rejected');
    expect(undone()).toBe(1);
  });

  it('after one that was never answered is undone once', async () => {
    const { answers, clock, start, undone } = setUp();
    answers.push(reset(), tooFew());
    const outcome = start();
    await clock.advance(60_000);
    expect((outcome.error as HoldfastError).code).toBe('ERR_REPLICATION');
    expect(undone()).toBe(1);
  });

  it.each([
    ['the connection broke', reset],
    ['it was not reached', unreachable],
  ])('as far as known, since %s, is attempted again, and then nothing is undone', async (_, failure) => {
    const { answers, clock, log, start } = setUp();
    answers.push(tooFew(failure()), GRANTED);
    const outcome = start();
    await clock.advance(2_000);
    // The first may still be on its way, and must find its owner barred once this is over.
    expect(outcome.value).toBe('it, in doubt');
    expect(log).toEqual(['attempt', 'attempt']);
  });

  it('as far as known, and busy ever after, is undone once the caller gives up', async () => {
    const { answers, clock, start, undone } = setUp();
    answers.push(tooFew(reset()), BUSY);
    const outcome = start(10_000);
    await clock.advance(5_000);
    expect(undone()).toBe(0);
    await clock.advance(60_000);
    expect(outcome.value).toBeNull();
    expect(undone()).toBe(1);
  });

  it.each([
    ['the connection breaks', reset],
    ['it is not reached', unreachable],
  ])('again and again, since %s: rejects in time, and is undone once', async (_, failure) => {
    const { answers, clock, start, undone } = setUp();
    answers.push(tooFew(failure()));
    const outcome = start();
    await clock.advance(60_000);
    expect(outcome.state).toBe('rejected');
    expect(undone()).toBe(1);
  });

  it('that arrives after the caller has aborted is undone once', async () => {
    const { bench, clock, log, undone } = setUp();
    const controller = new AbortController();
    let fail: (error: Error) => void = () => {};
    const hands = {
      what: 'acquire it',
      attempt: () =>
        new Promise<Answer>((_, reject) => {
          fail = reject;
        }),
      abandon: () => log.push('abandon'),
      withdraw: () => log.push('withdraw'),
    };
    const limits = { waitMs: Number.POSITIVE_INFINITY, signal: controller.signal };
    const outcome = watchPromise(new HandDrivenAcquisition(bench.runtime, 'line', hands).take(limits));
    await clock.advance(0);
    controller.abort(new Error('enough'));
    fail(tooFew());
    await clock.advance(60_000);
    expect(outcome.error).toMatchObject({ message: 'enough' });
    expect(undone()).toBe(1);
  });
});
