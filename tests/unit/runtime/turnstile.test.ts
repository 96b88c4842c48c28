/** One after another within an owner, those inside one another excepted. */
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/clock.ts';
import { Patience } from '../../../src/runtime/wait-budget.ts';
import { Turnstile } from '../../../src/runtime/local-mutex.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { watchPromise } from './support/deferred.ts';

/** `a.b` is inside `a`. */
const nested = () => new Turnstile<string>((innermost, who) => who.startsWith(`${innermost}.`));

function setUp() {
  const clock = new ManualClock();
  const patience = (waitMs = Number.POSITIVE_INFINITY, signal?: AbortSignal) =>
    new Patience(clock, waitMs, [signal]);
  return { clock, patience, turnstile: nested() };
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

describe('Turnstile', () => {
  it('lets siblings pass one after another, in the order they came', async () => {
    const { clock, patience, turnstile } = setUp();
    const inside: string[] = [];
    for (const who of ['a', 'b', 'c']) void turnstile.enter(who, patience()).then(() => inside.push(who));
    await clock.advance(0);
    expect(inside).toEqual(['a']);
    turnstile.leave('a');
    await clock.advance(0);
    expect(inside).toEqual(['a', 'b']);
    turnstile.leave('b');
    await clock.advance(0);
    expect(inside).toEqual(['a', 'b', 'c']);
  });

  it('lets who is inside pass, however deep, and nobody else until they are out', async () => {
    const { clock, patience, turnstile } = setUp();
    expect(await turnstile.enter('a', patience())).toBe(true);
    expect(await turnstile.enter('a.1', patience())).toBe(true);
    expect(await turnstile.enter('a.1.x', patience())).toBe(true);
    const sibling = watchPromise(turnstile.enter('a.2', patience()));
    const stranger = watchPromise(turnstile.enter('b', patience()));
    turnstile.leave('a.1.x');
    await clock.advance(0);
    expect(sibling.state).toBe('pending');
    turnstile.leave('a.1');
    await clock.advance(0);
    expect(sibling).toEqual({ state: 'resolved', value: true });
    expect(stranger.state).toBe('pending');
    turnstile.leave('a.2');
    turnstile.leave('a');
    await clock.advance(0);
    expect(stranger.state).toBe('resolved');
  });

  it('answers false when patience is over, and leaves no place behind', async () => {
    const { clock, patience, turnstile } = setUp();
    await turnstile.enter('a', patience());
    const b = watchPromise(turnstile.enter('b', patience(100)));
    const c = watchPromise(turnstile.enter('c', patience()));
    await clock.advance(100);
    expect(b).toEqual({ state: 'resolved', value: false });
    turnstile.leave('a');
    await clock.advance(0);
    expect(c.value).toBe(true);
    turnstile.leave('c');
    expect(await turnstile.enter('d', patience(0))).toBe(true);
  });

  it('rejects with the abort reason, and leaves no place behind', async () => {
    const { clock, patience, turnstile } = setUp();
    const controller = new AbortController();
    await turnstile.enter('a', patience());
    const b = watchPromise(turnstile.enter('b', patience(1_000, controller.signal)));
    controller.abort('stop');
    await clock.advance(0);
    expect(b).toEqual({ state: 'rejected', error: 'stop' });
    turnstile.leave('a');
    expect(await turnstile.enter('c', patience(0))).toBe(true);
  });

  it('let in and aborted in the same moment: the place goes to the next', async () => {
    const { clock, patience, turnstile } = setUp();
    const controller = new AbortController();
    await turnstile.enter('a', patience());
    const b = watchPromise(turnstile.enter('b', patience(1_000, controller.signal)));
    const c = watchPromise(turnstile.enter('c', patience()));
    // The abort settles the wait first; the pass comes before anybody has seen that.
    controller.abort('stop');
    turnstile.leave('a');
    await clock.advance(0);
    expect(b).toEqual({ state: 'rejected', error: 'stop' });
    expect(c).toEqual({ state: 'resolved', value: true });
  });

  it('let in and expired in the same moment: it is inside, and says so', async () => {
    const { clock, patience, turnstile } = setUp();
    await turnstile.enter('a', patience());
    const b = turnstile.enter(
      'b',
      new Patience(
        sameTurn(clock, () => turnstile.leave('a')),
        100,
        [],
      ),
    );
    await clock.advance(100);
    expect(await b).toBe(true);
    const c = watchPromise(turnstile.enter('c', patience()));
    await clock.advance(0);
    expect(c.state).toBe('pending');
    turnstile.leave('b');
    await clock.advance(0);
    expect(c.state).toBe('resolved');
  });

  it('is idle when nobody is inside or waits', async () => {
    const { clock, patience, turnstile } = setUp();
    expect(turnstile.isIdle).toBe(true);
    await turnstile.enter('a', patience());
    const b = turnstile.enter('b', patience(100));
    expect(turnstile.isIdle).toBe(false);
    turnstile.leave('a');
    expect(turnstile.isIdle).toBe(false);
    await b;
    turnstile.leave('b');
    expect(turnstile.isIdle).toBe(true);
    await clock.advance(0);
  });
});
