/** One after another within an owner, those inside one another excepted. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { LocalMutex } from '../../../src/runtime/local-mutex.ts';
import { WaitBudget } from '../../../src/runtime/wait-budget.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { watchPromise } from '../support/deferred.ts';

/** `a.b` is inside `a`. */
const nested = () => new LocalMutex<string>((innermost, who) => who.startsWith(`${innermost}.`));

function setUp() {
  const clock = new ManualClock();
  const waitBudget = (waitMs = Number.POSITIVE_INFINITY, signal?: AbortSignal) =>
    new WaitBudget(clock, waitMs, [signal]);
  return { clock, waitBudget, localMutex: nested() };
}

/** The same clock; what its timers do is followed by something else before any promise is told. */
function sameTurn(clock: ManualClock, then: () => void): Clock {
  return {
    now: () => clock.now(),
    suspendedMs: () => clock.suspendedMs(),
    inBackground: (delayMs, fire) => clock.inBackground(delayMs, fire),
    after: (delayMs, fire) =>
      clock.after(delayMs, () => {
        fire();
        then();
      }),
    alarm: (fire) => clock.alarm(fire),
  };
}

describe('LocalMutex', () => {
  it('admits siblings one after another, in order of arrival', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    const inside: string[] = [];
    for (const who of ['a', 'b', 'c']) void localMutex.enter(who, waitBudget()).then(() => inside.push(who));
    await clock.advance(0);
    expect(inside).toEqual(['a']);
    localMutex.leave('a');
    await clock.advance(0);
    expect(inside).toEqual(['a', 'b']);
    localMutex.leave('b');
    await clock.advance(0);
    expect(inside).toEqual(['a', 'b', 'c']);
  });

  it('admits nested entries at any depth, and no other caller until they have left', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    expect(await localMutex.enter('a', waitBudget())).toBe(true);
    expect(await localMutex.enter('a.1', waitBudget())).toBe(true);
    expect(await localMutex.enter('a.1.x', waitBudget())).toBe(true);
    const sibling = watchPromise(localMutex.enter('a.2', waitBudget()));
    const stranger = watchPromise(localMutex.enter('b', waitBudget()));
    localMutex.leave('a.1.x');
    await clock.advance(0);
    expect(sibling.state).toBe('pending');
    localMutex.leave('a.1');
    await clock.advance(0);
    expect(sibling).toEqual({ state: 'resolved', value: true });
    expect(stranger.state).toBe('pending');
    localMutex.leave('a.2');
    localMutex.leave('a');
    await clock.advance(0);
    expect(stranger.state).toBe('resolved');
  });

  it('answers false when the wait budget has ended, and leaves no place behind', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    await localMutex.enter('a', waitBudget());
    const b = watchPromise(localMutex.enter('b', waitBudget(100)));
    const c = watchPromise(localMutex.enter('c', waitBudget()));
    await clock.advance(100);
    expect(b).toEqual({ state: 'resolved', value: false });
    localMutex.leave('a');
    await clock.advance(0);
    expect(c.value).toBe(true);
    localMutex.leave('c');
    expect(await localMutex.enter('d', waitBudget(0))).toBe(true);
  });

  it('rejects with the abort reason, and leaves no place behind', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    const controller = new AbortController();
    await localMutex.enter('a', waitBudget());
    const b = watchPromise(localMutex.enter('b', waitBudget(1_000, controller.signal)));
    controller.abort('stop');
    await clock.advance(0);
    expect(b).toEqual({ state: 'rejected', error: 'stop' });
    localMutex.leave('a');
    expect(await localMutex.enter('c', waitBudget(0))).toBe(true);
  });

  it('admitted and aborted at the same moment: the place goes to the next caller', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    const controller = new AbortController();
    await localMutex.enter('a', waitBudget());
    const b = watchPromise(localMutex.enter('b', waitBudget(1_000, controller.signal)));
    const c = watchPromise(localMutex.enter('c', waitBudget()));
    // The abort settles the wait first; the pass comes before anybody has seen that.
    controller.abort('stop');
    localMutex.leave('a');
    await clock.advance(0);
    expect(b).toEqual({ state: 'rejected', error: 'stop' });
    expect(c).toEqual({ state: 'resolved', value: true });
  });

  it('admitted and expired at the same moment: the caller is inside, and the answer is true', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    await localMutex.enter('a', waitBudget());
    const b = localMutex.enter(
      'b',
      new WaitBudget(
        sameTurn(clock, () => localMutex.leave('a')),
        100,
        [],
      ),
    );
    await clock.advance(100);
    expect(await b).toBe(true);
    const c = watchPromise(localMutex.enter('c', waitBudget()));
    await clock.advance(0);
    expect(c.state).toBe('pending');
    localMutex.leave('b');
    await clock.advance(0);
    expect(c.state).toBe('resolved');
  });

  it('is idle when no caller is inside or waits', async () => {
    const { clock, waitBudget, localMutex } = setUp();
    expect(localMutex.isIdle).toBe(true);
    await localMutex.enter('a', waitBudget());
    const b = localMutex.enter('b', waitBudget(100));
    expect(localMutex.isIdle).toBe(false);
    localMutex.leave('a');
    expect(localMutex.isIdle).toBe(false);
    await b;
    localMutex.leave('b');
    expect(localMutex.isIdle).toBe(true);
    await clock.advance(0);
  });
});
