/** The waiters of one name: their order, and what the head leaves to the next. */
import { describe, expect, it } from 'vitest';
import { Line, type Waiter } from '../../../src/runtime/line.ts';
import { WakeChannels } from '../../../src/runtime/wake/channels.ts';
import { WakeHub } from '../../../src/runtime/wake/hub.ts';
import { type Peek, Poller } from '../../../src/runtime/wake/poller.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { HandDrivenDriver } from '../support/hand-driven.ts';

function setUp(peek: Peek = async (keys) => keys.map(() => 60_000)) {
  const clock = new ManualClock();
  const driver = new HandDrivenDriver();
  driver.answersAtOnce = true;
  const hub = new WakeHub({
    clientId: 'c',
    driver,
    clock,
    channels: new WakeChannels('plain'),
    report() {},
    takeBack() {},
  });
  let emptied = 0;
  const poller = new Poller({ clientId: 'c', clock, peek }, () => 0);
  const line = new Line(clock, hub, poller, () => {
    emptied += 1;
  });
  return {
    clock,
    driver,
    hub,
    line,
    get emptied() {
      return emptied;
    },
  };
}

/** One that notes when it is its turn. */
class NotingWaiter implements Waiter {
  next: Waiter | undefined;
  previous: Waiter | undefined;
  turns = 0;

  proceed(): void {
    this.turns += 1;
  }

  receive(): boolean {
    return false;
  }
}

function join(line: Line, count: number): NotingWaiter[] {
  return Array.from({ length: count }, () => {
    const waiter = new NotingWaiter();
    line.join(waiter);
    return waiter;
  });
}

function turnsOf(waiters: readonly NotingWaiter[]): number[] {
  return waiters.map(({ turns }) => turns);
}

describe('Line', () => {
  it('serves waiters in order of arrival', async () => {
    const { clock, line } = setUp();
    expect(line.join(new NotingWaiter())).toBe(true);
    expect(line.join(new NotingWaiter())).toBe(false);
    const other = setUp();
    const waiters = join(other.line, 4);
    expect(turnsOf(waiters)).toEqual([0, 0, 0, 0]);
    for (const [index, waiter] of waiters.entries()) {
      other.line.leave(waiter);
      await clock.advance(0);
      expect(turnsOf(waiters)).toEqual([0, 1, 1, 1].map((turn, at) => (at <= index + 1 ? turn : 0)));
    }
    expect(other.emptied).toBe(1);
  });

  it('does not retain later waiters through one that left: an endless line would never be freed', () => {
    const { line } = setUp();
    const waiters = join(line, 3);
    for (const waiter of [1, 0, 2].map((index) => waiters[index] as NotingWaiter)) {
      line.leave(waiter);
      expect(waiter.next).toBeUndefined();
      expect(waiter.previous).toBeUndefined();
    }
  });

  it('skips waiters that left from the middle, and from the end', async () => {
    const { clock, line } = setUp();
    const waiters = join(line, 4) as [NotingWaiter, NotingWaiter, NotingWaiter, NotingWaiter];
    line.leave(waiters[1]);
    line.leave(waiters[3]);
    line.leave(waiters[0]);
    await clock.advance(0);
    expect(turnsOf(waiters)).toEqual([0, 0, 1, 0]);
    expect(line.hasOthers).toBe(false);
  });

  it('gives the next waiter its turn only after pending callbacks have run', async () => {
    const { clock, line } = setUp();
    const waiters = join(line, 3) as [NotingWaiter, NotingWaiter, NotingWaiter];
    // One signal makes the first two give up, one after the other.
    line.leave(waiters[0]);
    expect(turnsOf(waiters)).toEqual([0, 0, 0]);
    line.leave(waiters[1]);
    await clock.advance(0);
    expect(waiters[2].turns).toBe(1);
  });

  it('is due for the first waiter', () => {
    expect(setUp().line.isDue).toBe(true);
  });

  it('is not due after an attempt that found it busy, until the time to look again', async () => {
    const { clock, line } = setUp();
    const [head] = join(line, 1);
    line.attempting();
    line.lookAgainIn(1_000);
    expect(line.isDue).toBe(false);
    line.pause();
    await clock.advance(999);
    expect(head?.turns).toBe(0);
    await clock.advance(1);
    expect(head?.turns).toBe(1);
    expect(line.isDue).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is due at once after a wake-up, and the timer is cancelled', () => {
    const { clock, line } = setUp();
    const [head] = join(line, 1);
    line.attempting();
    line.lookAgainIn(1_000);
    line.pause();
    line.wake();
    expect(head?.turns).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts a wake-up during an attempt', () => {
    const { line } = setUp();
    const [head] = join(line, 1);
    line.attempting();
    line.wake();
    line.lookAgainIn(1_000);
    expect(line.isDue).toBe(true);
    expect(head?.turns).toBe(0);
  });

  it('leaves an unused wake-up of the head to the next waiter', async () => {
    const { clock, line } = setUp();
    const [head, next] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.lookAgainIn(5_000);
    line.pause();
    line.wake();
    // The head gives up in this very moment, without having tried again.
    line.leave(head);
    await clock.advance(0);
    expect(next.turns).toBe(1);
    expect(line.isDue).toBe(true);
  });

  it('wakes the next waiter, not the head that gave up', async () => {
    const { clock, line } = setUp();
    const [head, next] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.lookAgainIn(5_000);
    line.pause();
    line.leave(head);
    // What the first one left behind is let go, so that its timer does not stay for the poll's length.
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(0);
    line.pause();
    line.wake();
    expect([head.turns, next.turns]).toEqual([0, 2]);
  });

  it('starts again for a waiter that arrives after the last has left', () => {
    const { line } = setUp();
    const last = new NotingWaiter();
    line.join(last);
    line.attempting();
    line.foundTaken(10_000, 5_000);
    expect(line.isDue).toBe(false);
    line.leave(last);
    expect([line.join(new NotingWaiter()), line.isDue]).toEqual([true, true]);
  });

  it('keeps no timer when the last waiter gives up', () => {
    const { clock, line } = setUp();
    const [head] = join(line, 1) as [NotingWaiter];
    line.attempting();
    line.lookAgainIn(5_000);
    line.pause();
    expect(clock.pendingTimers).toBe(1);
    line.leave(head);
    expect(clock.pendingTimers).toBe(0);
  });

  it('the next waiter waits until the time that the head knew', async () => {
    const { clock, line } = setUp();
    const [head, next] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.lookAgainIn(1_000);
    await clock.advance(400);
    line.leave(head);
    await clock.advance(0);
    line.pause();
    await clock.advance(599);
    expect(next.turns).toBe(1);
    await clock.advance(1);
    expect(next.turns).toBe(2);
  });

  it('is checked by the poller: waiters of a taken lock keep waiting, those of a free lock attempt', async () => {
    const answers = [30_000, 60_000, -2];
    const { clock, line } = setUp(async () => [answers.shift() ?? 0]);
    const [head] = join(line, 1);
    line.attempting();
    line.peekKey = 'lock';
    line.foundTaken(-1, 5_000);
    line.pause();
    // Three polls may come sooner than two others: their times are random.
    while (answers.length > 1) await clock.advance(100);
    expect(head?.turns).toBe(0);
    await clock.advance(6_000);
    expect(answers).toHaveLength(0);
    expect(head?.turns).toBe(1);
    expect(line.isDue).toBe(true);
  });

  it('that is taken for less than a poll interval is attempted when that time has passed', async () => {
    const { clock, line } = setUp(async () => [800]);
    const [head] = join(line, 1);
    line.attempting();
    line.peekKey = 'lock';
    line.foundTaken(-1, 5_000);
    line.pause();
    // No poll comes sooner than 4 s after the last look, nor later than 6 s and a tick.
    await clock.advance(4_000 + 800);
    expect(head?.turns).toBe(0);
    await clock.advance(2_250);
    expect(head?.turns).toBe(1);
  });

  it('that was woken during a check ignores the result of the check', async () => {
    let answer: (remaining: number[]) => void = () => {};
    const peeking: Peek = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { clock, line } = setUp(peeking);
    const [head] = join(line, 1);
    line.attempting();
    line.peekKey = 'lock';
    line.foundTaken(-1, 5_000);
    line.pause();
    await clock.advance(6_300);
    line.wake();
    line.attempting();
    answer([-2]);
    await clock.advance(0);
    expect(head?.turns).toBe(1);
    expect(line.isDue).toBe(true);
  });

  it('that changed hands during a check ignores the result of the check, and leaves no timer', async () => {
    let answer: (remaining: number[]) => void = () => {};
    const peeking: Peek = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { clock, line } = setUp(peeking);
    const [head, next] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.peekKey = 'lock';
    line.foundTaken(-1, 5_000);
    line.pause();
    await clock.advance(6_300);
    // The holder hands it to the head, and the next in line waits for that one.
    line.granted(5_000);
    line.leave(head);
    await clock.advance(0);
    line.pause();
    answer([29_000]);
    await clock.advance(0);
    expect(next.turns).toBe(1);
    expect(line.isDue).toBe(false);
    line.leave(next);
    expect(clock.pendingTimers).toBe(0);
  });

  it('granted: messages that arrived meanwhile belong to the release that served the head', () => {
    const { line } = setUp();
    const [head] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.wake();
    line.granted(5_000);
    line.leave(head);
    expect(line.isDue).toBe(false);
  });

  it('subscribes once for all waiters, and stops when the last has left', async () => {
    const { clock, driver, line } = setUp();
    const [first, second] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.listenTo('a');
    line.leave(first);
    line.listenTo('a');
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a']);
    line.leave(second);
    await clock.advance(1_000);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a']);
  });

  it('is woken when the subscription is acknowledged, because a release may have been missed', async () => {
    const { clock, driver, line } = setUp();
    driver.answersAtOnce = false;
    const [head] = join(line, 1);
    line.attempting();
    line.lookAgainIn(5_000);
    line.listenTo('a');
    line.pause();
    await clock.advance(100);
    expect(head?.turns).toBe(0);
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(head?.turns).toBe(1);
  });

  it('a head that leaves before the acknowledgement leaves that wake-up to the next', async () => {
    const { clock, driver, line } = setUp();
    driver.answersAtOnce = false;
    const [head, next] = join(line, 2) as [NotingWaiter, NotingWaiter];
    line.attempting();
    line.lookAgainIn(5_000);
    line.listenTo('a');
    await clock.advance(100);
    line.leave(head);
    await clock.advance(0);
    line.pause();
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(next.turns).toBe(2);
  });

  describe('a release of this process', () => {
    async function listening() {
      const { clock, driver, line } = setUp();
      const [head] = join(line, 1) as [NotingWaiter];
      line.listenTo('a');
      await clock.advance(0);
      line.attempting();
      line.lookAgainIn(5_000);
      line.pause();
      const hear = () => driver.connection.events.onMessage('a', '0');
      return { clock, line, head, hear };
    }

    it('does not wake this process; the next message does', async () => {
      const { line, head, hear } = await listening();
      line.releasing();
      line.released(2);
      hear();
      expect(head.turns).toBe(0);
      hear();
      expect(head.turns).toBe(1);
    });

    it('may be announced before it is answered', async () => {
      const { line, head, hear } = await listening();
      line.releasing();
      hear();
      line.released(2);
      expect(head.turns).toBe(0);
      hear();
      expect(head.turns).toBe(1);
    });

    it('that was not announced does not suppress later messages', async () => {
      const { line, head, hear } = await listening();
      line.releasing();
      line.released(-1);
      expect(head.turns).toBe(0);
      hear();
      expect(head.turns).toBe(1);
    });

    it('makes the head attempt after 5 ms if other processes may have received it and none took the lock', async () => {
      for (const heardBy of [2, -1, 'released'] as const) {
        const { clock, line, head } = await listening();
        line.releasing();
        line.released(heardBy);
        await clock.advance(4);
        expect(head.turns).toBe(0);
        await clock.advance(1);
        expect(head.turns).toBe(1);
      }
    });

    it('that others received: a turn of theirs that ends during the attempt still wakes the head', async () => {
      const { line, hear } = await listening();
      line.releasing();
      line.released(3);
      hear();
      line.wake();
      line.attempting();
      // One of two others has had its turn. The server found the lock taken before that, and answers after the message.
      hear();
      line.foundTaken(30_000, 5_000);
      expect(line.isDue).toBe(true);
    });

    it('that is answered during the attempt still wakes the head', async () => {
      const { line } = await listening();
      line.releasing();
      line.wake();
      line.attempting();
      line.released(2);
      line.foundTaken(30_000, 5_000);
      expect(line.isDue).toBe(true);
    });

    it('that only this process received lets the head attempt at once', async () => {
      const { line, head } = await listening();
      line.releasing();
      line.released(1);
      expect(head.turns).toBe(1);
    });

    it('that only a subscription left over from earlier waiters received lets the head attempt at once', async () => {
      const { clock, line, head } = await listening();
      line.leave(head);
      await clock.advance(0);
      const [next] = join(line, 1) as [NotingWaiter];
      line.attempting();
      line.lookAgainIn(5_000);
      line.pause();
      line.releasing();
      line.released(1);
      expect(next.turns).toBe(1);
    });
  });

  it('is woken by a message', async () => {
    const { clock, driver, line } = setUp();
    const [head] = join(line, 1);
    line.listenTo('a');
    await clock.advance(0);
    line.attempting();
    line.lookAgainIn(5_000);
    line.pause();
    driver.connection.events.onMessage('a', '0');
    expect(head?.turns).toBe(1);
  });
});
