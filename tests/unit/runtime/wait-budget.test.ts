/** How long one call waits, and that it leaves nothing behind. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { EXPIRED, WaitBudget } from '../../../src/runtime/wait-budget.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { defer, watchPromise } from '../support/deferred.ts';

const never = new Promise<never>(() => {});

describe('WaitBudget', () => {
  it('returns the awaited value', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, 100, []);
    expect(await waitBudget.wait(Promise.resolve('it'))).toBe('it');
    expect(clock.pendingTimers).toBe(0);
  });

  it('expires at its end and not before', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, 100, []);
    const wait = watchPromise(waitBudget.wait(never));
    await clock.advance(99);
    expect(wait.state).toBe('pending');
    await clock.advance(1);
    expect(wait).toEqual({ state: 'resolved', value: EXPIRED });
  });

  it('several waits share one end', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, 100, []);
    const first = waitBudget.wait(new Promise<void>((resolve) => clock.after(60, resolve)));
    await clock.advance(60);
    await first;
    const second = watchPromise(waitBudget.wait(never));
    await clock.advance(40);
    expect(second).toEqual({ state: 'resolved', value: EXPIRED });
  });

  it('may wait until another time than its own end', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, 100, []);
    const wait = watchPromise(waitBudget.wait(never, clock.now() + 500));
    await clock.advance(499);
    expect(wait.state).toBe('pending');
    await clock.advance(1);
    expect(wait.value).toBe(EXPIRED);
  });

  it('waits without a timer when there is no end', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, Number.POSITIVE_INFINITY, []);
    const wait = watchPromise(waitBudget.wait(never));
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1e12);
    expect(wait.state).toBe('pending');
  });

  it('waits longer than a timer of Node can', async () => {
    const clock = new ManualClock();
    const waitBudget = new WaitBudget(clock, 2 ** 40, []);
    const wait = watchPromise(waitBudget.wait(never));
    await clock.advance(2 ** 40 - 1);
    expect(wait.state).toBe('pending');
    await clock.advance(1);
    expect(wait.value).toBe(EXPIRED);
  });

  it('rejects at once with the reason of whichever signal aborts', async () => {
    for (const which of [0, 1]) {
      const clock = new ManualClock();
      const controllers = [new AbortController(), new AbortController()];
      const signals = controllers.map(({ signal }) => signal);
      const waitBudget = new WaitBudget(clock, 100, [...signals, undefined]);
      const wait = watchPromise(waitBudget.wait(never));
      const reason = new Error('stop');
      controllers[which]?.abort(reason);
      await clock.advance(0);
      expect(wait).toEqual({ state: 'rejected', error: reason });
      expect(clock.pendingTimers).toBe(0);
      expect(() => waitBudget.throwIfAborted()).toThrow(reason);
    }
  });

  it('does not begin with a signal that is aborted already', () => {
    const reason = new Error('too late');
    expect(() => new WaitBudget(new ManualClock(), 100, [AbortSignal.abort(reason)])).toThrow(reason);
  });

  it('listens to a signal once for all its waits, and not at all when it is disposed of', async () => {
    const clock = new ManualClock();
    const { signal } = new AbortController();
    {
      using waitBudget = new WaitBudget(clock, 100, [signal]);
      for (let i = 0; i < 20; i += 1) await waitBudget.wait(Promise.resolve());
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('rejects the next wait after an abort between two waits, and ignores the awaited promise', async () => {
    const clock = new ManualClock();
    const giveUp = new AbortController();
    const waitBudget = new WaitBudget(clock, 100, [giveUp.signal]);
    await waitBudget.wait(Promise.resolve());
    giveUp.abort(new Error('enough'));
    const late = defer<void>();
    await expect(waitBudget.wait(late.promise)).rejects.toThrow('enough');
    expect(clock.pendingTimers).toBe(0);
    late.reject(new Error('nobody listens'));
    await clock.advance(0);
  });

  it('ignores a rejection that arrives after the abort', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const waitBudget = new WaitBudget(clock, 100, [controller.signal]);
    const late = defer();
    const wait = watchPromise(waitBudget.wait(late.promise));
    controller.abort('stop');
    late.reject(new Error('nobody should see this'));
    await clock.advance(0);
    expect(wait).toEqual({ state: 'rejected', error: 'stop' });
  });

  it('a late settlement does not hide the abort from the next wait', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const waitBudget = new WaitBudget(clock, Number.POSITIVE_INFINITY, [controller.signal]);
    const slow = defer();
    const first = waitBudget.wait(slow.promise, clock.now() + 10);
    await clock.advance(10);
    expect(await first).toBe(EXPIRED);

    const second = watchPromise(waitBudget.wait(never));
    slow.resolve();
    await clock.advance(0);
    controller.abort('stop');
    await clock.advance(0);
    expect(second).toEqual({ state: 'rejected', error: 'stop' });
  });
});
