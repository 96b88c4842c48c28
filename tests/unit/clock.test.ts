/** The system's clock with timers of any length, and the time by which leases run. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeaseClock, SystemClock } from '../../src/clock.ts';
import { ManualClock } from '../harness/manual-clock.ts';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

describe('an alarm', () => {
  /** Timers that keep this process alive. */
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('fires once, and again when it is set again', () => {
    const fire = vi.fn();
    const alarm = new SystemClock().alarm(fire);
    alarm.set(100);
    vi.advanceTimersByTime(99);
    expect(fire).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1_000);
    expect(fire).toHaveBeenCalledTimes(1);
    alarm.set(100);
    vi.advanceTimersByTime(100);
    expect(fire).toHaveBeenCalledTimes(2);
  });

  it('fires no later than it was last set to', () => {
    const fire = vi.fn();
    const alarm = new SystemClock().alarm(fire);
    alarm.set(100);
    vi.advanceTimersByTime(50);
    alarm.set(10);
    vi.advanceTimersByTime(10);
    expect(fire).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps one timer for all its times', () => {
    const alarm = new SystemClock().alarm(() => {});
    for (let i = 0; i < 5; i += 1) {
      alarm.set(100);
      alarm.rest();
      vi.advanceTimersByTime(10);
    }
    expect(vi.getTimerCount()).toBe(1);
  });

  it('keeps the process alive only while it is set', () => {
    vi.useRealTimers();
    const before = timers();
    const alarm = new SystemClock().alarm(() => {});
    alarm.set(60_000);
    expect(timers()).toBe(before + 1);
    alarm.rest();
    expect(timers()).toBe(before);
    alarm.set(60_000);
    expect(timers()).toBe(before + 1);
    alarm.rest();
    expect(timers()).toBe(before);
  });
});

describe('SystemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('fires once, when the time has passed', () => {
    const fire = vi.fn();
    new SystemClock().after(1_000, fire);
    vi.advanceTimersByTime(999);
    expect(fire).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(10_000);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it.each([LONGEST_TIMER_MS, LONGEST_TIMER_MS + 1, 3 * LONGEST_TIMER_MS + 12_345])(
    'fires after %d ms, which Node.js would treat as now',
    (delayMs) => {
      const fire = vi.fn();
      new SystemClock().after(delayMs, fire);
      vi.advanceTimersByTime(delayMs - 1);
      expect(fire).toHaveBeenCalledTimes(0);
      vi.advanceTimersByTime(1);
      expect(fire).toHaveBeenCalledTimes(1);
    },
  );

  it('can cancel a long timer after it was armed again', () => {
    const fire = vi.fn();
    const cancel = new SystemClock().after(3 * LONGEST_TIMER_MS, fire);
    vi.advanceTimersByTime(2 * LONGEST_TIMER_MS);
    cancel();
    cancel();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(2 * LONGEST_TIMER_MS);
    expect(fire).toHaveBeenCalledTimes(0);
  });

  it('treats a past time as now', () => {
    const fire = vi.fn();
    new SystemClock().after(-5, fire);
    vi.advanceTimersByTime(0);
    expect(fire).toHaveBeenCalledTimes(1);
  });

  it('does not drop a fraction of a millisecond', () => {
    const fire = vi.fn();
    new SystemClock().after(10.2, fire);
    vi.advanceTimersByTime(10);
    expect(fire).toHaveBeenCalledTimes(0);
    vi.advanceTimersByTime(1);
    expect(fire).toHaveBeenCalledTimes(1);
  });
});

describe('SystemClock in real time', () => {
  it('runs with the monotonic clock and has not slept', () => {
    const clock = new SystemClock();
    const before = performance.now();
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(performance.now());
    expect(clock.suspendedMs()).toBe(0);
  });

  it('keeps the process alive with after(), and not with inBackground()', () => {
    const keptAliveBy = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const clock = new SystemClock();
    const before = keptAliveBy();
    const cancelBackground = clock.inBackground(60_000, () => {});
    expect(keptAliveBy()).toBe(before);
    const cancel = clock.after(60_000, () => {});
    expect(keptAliveBy()).toBe(before + 1);
    cancel();
    expect(keptAliveBy()).toBe(before);
    cancelBackground();
  });
});

describe('LeaseClock', () => {
  it('keeps counting while the machine sleeps', () => {
    const clock = new ManualClock();
    const leases = new LeaseClock(clock);
    const before = leases.now();
    clock.suspend(60_000);
    clock.jump(5);
    expect(leases.now() - before).toBe(60_005);
    expect(leases.suspendedMs).toBe(60_000);
  });

  it('returns a send time that is never later than now, and equal if the machine did not sleep since', () => {
    const clock = new ManualClock();
    const leases = new LeaseClock(clock);
    clock.suspend(60_000);
    const sentAt = leases.sendTime();
    expect(sentAt).toBe(clock.now());
    expect(leases.now()).toBe(sentAt + 60_000);
    expect(leases.sendTime()).toBe(leases.now());
  });
});
