/** How the system's clock finds out that the machine was suspended. A machine that runs tests cannot be. */
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';

const machine = vi.hoisted(() => ({ bootMs: 5_000_000, readings: 0 }));

vi.mock('node:os', () => ({
  uptime() {
    machine.readings += 1;
    return machine.bootMs / 1_000;
  },
}));

// The files of a worker share their modules: this one needs a clock that reads the machine above, and keeps it.
vi.resetModules();
const { SystemClock } = await import('../../src/clock.ts');
afterAll(() => vi.resetModules());

/** What moves while the machine sleeps; the monotonic clock does not. */
function suspend(ms: number): void {
  machine.bootMs += ms;
  vi.setSystemTime(Date.now() + ms);
}

describe('SystemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] });
    return () => vi.useRealTimers();
  });

  it('counts every suspend', () => {
    const clock = new SystemClock();
    expect(clock.suspendedMs()).toBe(0);
    suspend(60_000);
    expect(clock.suspendedMs()).toBe(60_000);
    expect(clock.suspendedMs()).toBe(60_000);
    suspend(500);
    expect(clock.suspendedMs()).toBe(60_500);
  });

  it('counts many short suspends together', () => {
    const clock = new SystemClock();
    for (let nap = 0; nap < 10; nap += 1) {
      suspend(50);
      clock.suspendedMs();
    }
    expect(clock.suspendedMs()).toBe(500);
  });

  it('is not misled by a change of the wall clock', () => {
    const clock = new SystemClock();
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(clock.suspendedMs()).toBe(0);
    vi.setSystemTime(Date.now() - 7_200_000);
    expect(clock.suspendedMs()).toBe(0);
    suspend(60_000);
    expect(clock.suspendedMs()).toBe(60_000);
  });

  it('reads the time since boot only when the wall clock has moved', () => {
    const clock = new SystemClock();
    const before = machine.readings;
    for (let call = 0; call < 1_000; call += 1) clock.suspendedMs();
    expect(machine.readings).toBe(before);
  });
});
