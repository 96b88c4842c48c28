/** Repeating until answered, within a budget. */
import { describe, expect, it } from 'vitest';
import { DriverError, OutcomeUnknownError } from '../../../src/errors.ts';
import { retry } from '../../../src/runtime/retry.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { defer, refusal, reset, unreachable, watchPromise } from '../support/deferred.ts';

/** Rejects with these, one after the other; the last one forever. */
function failing(...errors: [unknown, ...unknown[]]) {
  let calls = 0;
  const call = async (): Promise<never> => {
    calls += 1;
    throw errors[Math.min(calls, errors.length) - 1];
  };
  return {
    call,
    get calls() {
      return calls;
    },
  };
}

describe('retry', () => {
  it('asks again after a lost reply, and passes on the answer', async () => {
    const clock = new ManualClock();
    const answers = [reset(), unreachable(), 'released'];
    const asked = watchPromise(
      retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', async () => {
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return answer;
      }),
    );
    await clock.advance(100);
    expect(asked).toEqual({ state: 'resolved', value: 'released' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects a refusal at once, with the server’s error as the cause', async () => {
    const clock = new ManualClock();
    const error = refusal();
    const attempts = failing(error);
    const asked = watchPromise(retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', attempts.call));
    await clock.advance(0);
    expect(asked.error).toBeInstanceOf(DriverError);
    expect((asked.error as Error).cause).toBe(error);
    await clock.advance(10_000);
    expect(attempts.calls).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects a refusal after a lost reply at once too', async () => {
    const clock = new ManualClock();
    const attempts = failing(reset(), refusal());
    const asked = watchPromise(retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', attempts.call));
    await clock.advance(30);
    // The first attempt may have run, whatever the second was told.
    expect(asked.error).toBeInstanceOf(OutcomeUnknownError);
    expect((asked.error as Error).message).toContain('no permission');
    expect(attempts.calls).toBe(2);
  });

  it('does not know the outcome when the budget ends with an attempt under way', async () => {
    const clock = new ManualClock();
    const attempts: Promise<never>[] = [Promise.reject(unreachable()), new Promise<never>(() => {})];
    const asked = watchPromise(
      retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', () => attempts.shift() as Promise<never>),
    );
    await clock.advance(3_000);
    expect(attempts).toEqual([]);
    expect(asked.error).toBeInstanceOf(OutcomeUnknownError);
  });

  it.each([
    ['it may have run', reset(), OutcomeUnknownError],
    ['it cannot have run', unreachable(), DriverError],
  ])('does not repeat after a sleep of the machine that used up the budget: %s', async (_, error, kind) => {
    const clock = new ManualClock();
    const attempts = failing(error);
    const asked = watchPromise(retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', attempts.call));
    await clock.advance(0);
    clock.suspend(3_000);
    await clock.advance(1_000);
    expect(attempts.calls).toBe(1);
    expect(asked.error).toBeInstanceOf(kind);
    expect(clock.pendingTimers).toBe(0);
  });

  it('settles at its budget, not before and not after', async () => {
    const clock = new ManualClock();
    const asked = watchPromise(
      retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', () => new Promise<never>(() => {})),
    );
    await clock.advance(2_999);
    expect(asked.state).toBe('pending');
    await clock.advance(1);
    expect(asked.error).toBeInstanceOf(OutcomeUnknownError);
    expect((asked.error as Error).message).toContain('release "x"');
  });

  it('rejects with a DriverError if the call cannot have run', async () => {
    const clock = new ManualClock();
    const attempts = failing(unreachable());
    const asked = watchPromise(retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', attempts.call));
    await clock.advance(3_000);
    expect(asked.error).toBeInstanceOf(DriverError);
    expect(asked.error).not.toBeInstanceOf(OutcomeUnknownError);
    expect(attempts.calls).toBeGreaterThan(3);
  });

  it.each([
    ['first', [reset(), unreachable()]],
    ['last', [unreachable(), reset()]],
  ] as const)(
    'rejects with an unknown outcome if the call may have run, at the %s time or ever',
    async (_which, errors) => {
      const clock = new ManualClock();
      const asked = watchPromise(
        retry({ clock, commandTimeoutMs: 3_000 }, 'release "x"', failing(...errors).call),
      );
      await clock.advance(3_000);
      expect(asked.error).toBeInstanceOf(OutcomeUnknownError);
    },
  );

  it('makes no attempt once it has given up, and ignores late results', async () => {
    const clock = new ManualClock();
    const late = defer<string>();
    let calls = 0;
    const asked = watchPromise(
      retry({ clock, commandTimeoutMs: 100 }, 'release "x"', () => {
        calls += 1;
        return late.promise;
      }),
    );
    await clock.advance(100);
    late.reject(reset());
    await clock.advance(10_000);
    expect(asked.error).toBeInstanceOf(OutcomeUnknownError);
    expect(calls).toBe(1);
  });

  it('pauses between attempts', async () => {
    const clock = new ManualClock();
    const attempts = failing(unreachable());
    void retry({ clock, commandTimeoutMs: 60_000 }, 'x', attempts.call).catch(() => {});
    await clock.advance(60_000);
    // A pause is at most half a second, and at least a quarter once it has grown.
    expect(attempts.calls).toBeGreaterThanOrEqual(120);
    expect(attempts.calls).toBeLessThanOrEqual(250);
  });
});
