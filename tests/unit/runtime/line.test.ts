/** The waiters of one name: their order, and what the head leaves to the next. */
import { describe, expect, it } from 'vitest';
import { Line } from '../../../src/runtime/line.ts';
import { WakeChannels } from '../../../src/runtime/wake-channels.ts';
import { WakeHub } from '../../../src/runtime/wake-hub.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { watchPromise } from './support/deferred.ts';
import { HandDrivenDriver } from './support/hand-driven.ts';

function setUp() {
  const clock = new ManualClock();
  const driver = new HandDrivenDriver();
  driver.answersAtOnce = true;
  const hub = new WakeHub({
    driver,
    clock,
    channels: new WakeChannels('plain'),
    report() {},
    takeBack() {},
  });
  let emptied = 0;
  const line = new Line(clock, hub, () => {
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

describe('Line', () => {
  it('serves in the order they came', async () => {
    const { clock, line } = setUp();
    const served: number[] = [];
    const places = [0, 1, 2, 3].map((i) => {
      const place = line.join();
      void place.turn.then(() => served.push(i));
      return place;
    });
    await clock.advance(0);
    expect(served).toEqual([0]);
    for (const place of places) {
      line.leave(place);
      await clock.advance(0);
    }
    expect(served).toEqual([0, 1, 2, 3]);
  });

  it('passes over who left from the middle', async () => {
    const { clock, line } = setUp();
    const [first, second, third] = [line.join(), line.join(), line.join()];
    const secondTurn = watchPromise(second.turn);
    const thirdTurn = watchPromise(third.turn);
    line.leave(second);
    line.leave(first);
    await clock.advance(0);
    expect(secondTurn.state).toBe('pending');
    expect(thirdTurn.state).toBe('resolved');
  });

  it('is left once, however often that is said', async () => {
    const bench = setUp();
    const { clock, line } = bench;
    const [first, second, third] = [line.join(), line.join(), line.join()];
    const thirdTurn = watchPromise(third.turn);
    line.leave(first);
    line.leave(first);
    await clock.advance(0);
    expect(thirdTurn.state).toBe('pending');
    line.leave(second);
    line.leave(third);
    line.leave(third);
    expect(bench.emptied).toBe(1);
    expect(line.isEmpty).toBe(true);
  });

  it('is due for the first who comes', () => {
    expect(setUp().line.isDue).toBe(true);
  });

  it('is not due after an attempt that found it busy, until the time to look again', async () => {
    const { clock, line } = setUp();
    line.join();
    line.attempting();
    line.foundBusy(1_000);
    expect(line.isDue).toBe(false);
    const due = watchPromise(line.due());
    await clock.advance(999);
    expect(due.state).toBe('pending');
    await clock.advance(1);
    expect(due.state).toBe('resolved');
    expect(line.isDue).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is due at once when something happens, and the timer goes', async () => {
    const { clock, line } = setUp();
    line.join();
    line.attempting();
    line.foundBusy(1_000);
    const due = watchPromise(line.due());
    line.wake();
    await clock.advance(0);
    expect(due.state).toBe('resolved');
    expect(clock.pendingTimers).toBe(0);
  });

  it('counts what happens while an attempt is under way as news', () => {
    const { line } = setUp();
    line.join();
    line.attempting();
    line.wake();
    line.foundBusy(1_000);
    expect(line.isDue).toBe(true);
  });

  it('leaves a wake-up that the head did not follow to the next', async () => {
    const { clock, line } = setUp();
    const [head, next] = [line.join(), line.join()];
    line.attempting();
    line.foundBusy(5_000);
    void line.due();
    line.wake();
    // The head gives up in this very moment, without having tried again.
    line.leave(head);
    await next.turn;
    expect(line.isDue).toBe(true);
    await clock.advance(0);
  });

  it('wakes the next, not the head that gave up while it waited', async () => {
    const { clock, line } = setUp();
    const [head, next] = [line.join(), line.join()];
    line.attempting();
    line.foundBusy(5_000);
    const headDue = watchPromise(line.due());
    line.leave(head);
    await next.turn;
    const nextDue = watchPromise(line.due());
    await clock.advance(0);
    // What the first one left behind is let go, so that its timer does not stay for the poll's length.
    expect(headDue.state).toBe('resolved');
    expect(clock.pendingTimers).toBe(1);
    expect(nextDue.state).toBe('pending');
    line.wake();
    await clock.advance(0);
    expect(nextDue.state).toBe('resolved');
  });

  it('keeps no timer when the last waiter gives up', async () => {
    const { clock, line } = setUp();
    const head = line.join();
    line.attempting();
    line.foundBusy(5_000);
    void line.due();
    expect(clock.pendingTimers).toBe(1);
    line.leave(head);
    expect(clock.pendingTimers).toBe(0);
  });

  it('the next waits as long as the head knew it was worth waiting', async () => {
    const { clock, line } = setUp();
    const [head, next] = [line.join(), line.join()];
    line.attempting();
    line.foundBusy(1_000);
    await clock.advance(400);
    line.leave(head);
    await next.turn;
    const due = watchPromise(line.due());
    await clock.advance(599);
    expect(due.state).toBe('pending');
    await clock.advance(1);
    expect(due.state).toBe('resolved');
  });

  it('granted: messages that came meanwhile tell of the release that let the head in', () => {
    const { line } = setUp();
    const head = line.join();
    line.join();
    line.attempting();
    line.wake();
    line.granted(5_000);
    line.leave(head);
    expect(line.isDue).toBe(false);
  });

  it('listens once, for all who come, and stops when the last has left', async () => {
    const { clock, driver, line } = setUp();
    const [first, second] = [line.join(), line.join()];
    line.listenTo('a');
    line.leave(first);
    line.listenTo('a');
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a']);
    line.leave(second);
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a']);
  });

  it('is woken when the subscription is acknowledged, because a release may have gone unheard', async () => {
    const { clock, driver, line } = setUp();
    driver.answersAtOnce = false;
    line.join();
    line.attempting();
    line.foundBusy(5_000);
    line.listenTo('a');
    const due = watchPromise(line.due());
    await clock.advance(100);
    expect(due.state).toBe('pending');
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(due.state).toBe('resolved');
  });

  it('a head that leaves before the acknowledgement leaves that wake-up to the next', async () => {
    const { clock, driver, line } = setUp();
    driver.answersAtOnce = false;
    const [head, next] = [line.join(), line.join()];
    line.attempting();
    line.foundBusy(5_000);
    line.listenTo('a');
    await clock.advance(100);
    line.leave(head);
    await next.turn;
    const due = watchPromise(line.due());
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(due.state).toBe('resolved');
  });

  it('is woken by a message', async () => {
    const { clock, driver, line } = setUp();
    line.join();
    line.listenTo('a');
    await clock.advance(0);
    line.attempting();
    line.foundBusy(5_000);
    const due = watchPromise(line.due());
    driver.connection.events.onMessage('a', '0');
    await clock.advance(0);
    expect(due.state).toBe('resolved');
  });
});
