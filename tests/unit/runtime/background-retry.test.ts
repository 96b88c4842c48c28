/** Cleaning up in the background: repeated until answered, for as long as it matters. */
import { describe, expect, it } from 'vitest';
import { BackgroundRetry } from '../../../src/runtime/background-retry.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Reports } from '../support/bench.ts';
import { defer, refusal, reset, watchPromise } from '../support/deferred.ts';

function setUp() {
  const clock = new ManualClock();
  const reports = new Reports();
  return { clock, reports, backgroundRetry: new BackgroundRetry(clock, reports.report) };
}

describe('BackgroundRetry', () => {
  it('repeats until the server has answered', async () => {
    const { clock, reports, backgroundRetry } = setUp();
    let calls = 0;
    backgroundRetry.repeatUntilAnswered('release "x"', 30_000, async () => {
      calls += 1;
      if (calls < 4) throw reset();
    });
    await clock.advance(30_000);
    expect(calls).toBe(4);
    expect(reports.all).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up at the time limit, and reports why', async () => {
    const { clock, reports, backgroundRetry } = setUp();
    const error = reset();
    let calls = 0;
    backgroundRetry.repeatUntilAnswered('release "x"', 5_000, async () => {
      calls += 1;
      throw error;
    });
    await clock.advance(10_000);
    expect(reports.of('error')).toEqual([{ error, during: 'release "x"' }]);
    const before = calls;
    await clock.advance(60_000);
    expect(calls).toBe(before);
  });

  it.each(['during an attempt', 'between two'])(
    'counts the time that the machine sleeps: %s',
    async (when) => {
      const { clock, reports, backgroundRetry } = setUp();
      let calls = 0;
      backgroundRetry.repeatUntilAnswered('release "x"', 60_000, async () => {
        calls += 1;
        if (when === 'during an attempt') clock.suspend(60_000);
        throw reset();
      });
      await clock.advance(0);
      if (when === 'between two') clock.suspend(60_000);
      await clock.advance(30_000);
      expect(calls).toBe(1);
      expect(reports.of('error')).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('reports a refusal at once, and repeats until it is lifted', async () => {
    const { clock, reports, backgroundRetry } = setUp();
    const error = refusal();
    let calls = 0;
    backgroundRetry.repeatUntilAnswered('release "x"', 30_000, async () => {
      calls += 1;
      if (calls < 4) throw error;
    });
    await clock.advance(0);
    expect(reports.of('error')).toEqual([{ error, during: 'release "x"' }]);
    await clock.advance(30_000);
    expect(calls).toBe(4);
    expect(reports.of('error')).toHaveLength(1);
  });

  it('reports a refusal that is never lifted once', async () => {
    const { clock, reports, backgroundRetry } = setUp();
    backgroundRetry.repeatUntilAnswered('release "x"', 5_000, () => Promise.reject(refusal()));
    await clock.advance(10_000);
    expect(reports.of('error')).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is drained when every task has ended, however it ended', async () => {
    const { clock, backgroundRetry } = setUp();
    const answer = defer();
    backgroundRetry.repeatUntilAnswered('a', 30_000, () => answer.promise);
    backgroundRetry.repeatUntilAnswered('b', 1_000, () => Promise.reject(refusal()));
    const drained = watchPromise(backgroundRetry.drained());
    await clock.advance(2_000);
    expect(drained.state).toBe('pending');
    answer.resolve();
    await clock.advance(0);
    expect(drained.state).toBe('resolved');
  });

  it('is drained at once without tasks', async () => {
    await setUp().backgroundRetry.drained();
  });

  it('makes no further attempt once closed, neither after an answer nor after a pause', async () => {
    const { clock, backgroundRetry } = setUp();
    const answer = defer();
    const calls: string[] = [];
    backgroundRetry.repeatUntilAnswered('under way', 30_000, () => {
      calls.push('under way');
      return answer.promise;
    });
    backgroundRetry.repeatUntilAnswered('pausing', 30_000, () => {
      calls.push('pausing');
      return Promise.reject(reset());
    });
    await clock.advance(0);
    backgroundRetry.close();
    answer.reject(reset());
    await clock.advance(30_000);
    expect(calls).toEqual(['under way', 'pausing']);
  });
});
