/** Looking at many locks together. */
import { describe, expect, it } from 'vitest';
import { type Peek, type Polled, Poller } from '../../../../src/runtime/wake/poller.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';
import { refusal, reset } from '../../support/deferred.ts';

class NotingLine implements Polled {
  readonly looks: number[] = [];

  constructor(readonly peekKey: string) {}

  peeked(remainingMs: number): void {
    this.looks.push(remainingMs);
  }
}

function setUp(answer: Peek = async (keys) => keys.map(() => -2), slotOf: (key: string) => number = () => 0) {
  const clock = new ManualClock();
  const calls: (readonly string[])[] = [];
  const peek: Peek = (keys) => {
    calls.push(keys);
    return answer(keys);
  };
  return { clock, calls, poller: new Poller({ clientId: 'c', clock, peek }, slotOf) };
}

function lines(count: number): NotingLine[] {
  return Array.from({ length: count }, (_, index) => new NotingLine(`k${index}`));
}

describe('Poller', () => {
  it('checks a hundred locks in one call, once, at the poll time', async () => {
    const { calls, clock, poller } = setUp();
    const all = lines(250);
    for (const line of all) poller.add(line, 5_000);
    await clock.advance(4_999);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 50]);
    await clock.advance(60_000);
    expect(calls).toHaveLength(3);
    for (const { looks } of all) expect(looks).toEqual([-2]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('looks at locks that become due shortly after each other in one call, and at an earlier one in time', async () => {
    const { calls, clock, poller } = setUp();
    const [first, second, third, early] = lines(4) as [NotingLine, NotingLine, NotingLine, NotingLine];
    poller.add(first, 5_000);
    poller.add(second, 5_010);
    poller.add(third, 5_040);
    poller.add(early, 300);
    await clock.advance(299);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual([['k3']]);
    await clock.advance(4_700);
    expect(calls).toEqual([['k3'], ['k0']]);
    await clock.advance(50);
    expect(calls).toEqual([['k3'], ['k0'], ['k1', 'k2']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not put off by locks that are added one after the other', async () => {
    const { calls, clock, poller } = setUp();
    for (const line of lines(6)) {
      poller.add(line, 10);
      await clock.advance(20);
    }
    expect(calls).toEqual([
      ['k0', 'k1', 'k2'],
      ['k3', 'k4', 'k5'],
    ]);
  });

  it('reports to each line how long its own lock is taken', async () => {
    const { clock, poller } = setUp(async (keys) => keys.map((key) => Number(key.slice(1)) * 10));
    const all = lines(3);
    for (const line of all) poller.add(line, 100);
    await clock.advance(100);
    expect(all.map(({ looks }) => looks)).toEqual([[0], [10], [20]]);
  });

  it('checks one slot in one call', async () => {
    const { calls, clock, poller } = setUp(undefined, (key) => Number(key.slice(1)) % 2);
    for (const line of lines(4)) poller.add(line, 100);
    await clock.advance(100);
    expect(calls).toEqual([
      ['k0', 'k2'],
      ['k1', 'k3'],
    ]);
  });

  it('does not check a withdrawn lock, and leaves no timer', async () => {
    const { calls, clock, poller } = setUp();
    const [first, second] = lines(2) as [NotingLine, NotingLine];
    poller.add(first, 100);
    poller.add(second, 100);
    poller.remove(first);
    poller.remove(second);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(1_000);
    expect(calls).toEqual([]);
  });

  it('lets waiters for a key without expiry attempt themselves: only an attempt reports that it is not a lock', async () => {
    const { clock, poller } = setUp(async () => [-1]);
    const [line] = lines(1) as [NotingLine];
    poller.add(line, 100);
    await clock.advance(100);
    expect(line.looks).toEqual([-2]);
  });

  it('lets each line attempt itself if the server refuses the check', async () => {
    const { clock, poller } = setUp(() => Promise.reject(refusal()));
    const all = lines(2);
    for (const line of all) poller.add(line, 100);
    await clock.advance(100);
    expect(all.map(({ looks }) => looks)).toEqual([[-2], [-2]]);
  });

  it('reports an unknown state if the server cannot be reached', async () => {
    const { clock, poller } = setUp(() => Promise.reject(reset()));
    const [line] = lines(1) as [NotingLine];
    poller.add(line, 100);
    await clock.advance(100);
    expect(line.looks).toEqual([-1]);
  });
});
