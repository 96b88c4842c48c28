/** One subscription for each channel, and nobody left asleep when the connection breaks. */
import { describe, expect, it } from 'vitest';
import { WakeChannels } from '../../../../src/runtime/wake/channels.ts';
import { WakeHub } from '../../../../src/runtime/wake/hub.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';
import { Reports } from '../../support/bench.ts';
import { defer, refusal, reset, unreachable, watchPromise } from '../../support/deferred.ts';
import { HandDrivenDriver } from '../../support/hand-driven.ts';

function setUp({ answersAtOnce = true } = {}) {
  const clock = new ManualClock();
  const driver = new HandDrivenDriver();
  driver.answersAtOnce = answersAtOnce;
  const reports = new Reports();
  const { report, takeBack } = reports;
  const hub = new WakeHub({
    clientId: 'c',
    driver,
    clock,
    channels: new WakeChannels('plain'),
    report,
    takeBack,
  });
  const woken: string[] = [];
  const listen = (channel: string, who = channel) =>
    hub.listen(channel, { onMessage: () => woken.push(who) > 0, onMissed: () => woken.push(who) });
  return { clock, driver, hub, listen, reports, woken };
}

/** For how long a channel is kept that nobody listens to. */
const LINGER_MS = 1_000;

/** Longer than the longest pause before a reconnection. */
const RECONNECTED_MS = 2_000;

describe('WakeHub', () => {
  it('opens nothing until there is a listener', async () => {
    const { clock, driver } = setUp();
    await clock.advance(60_000);
    expect(driver.openings).toBe(0);
  });

  it('subscribes once for many listeners of one channel, on one connection for all channels', async () => {
    const { driver, listen } = setUp();
    const all = [listen('a', '1'), listen('a', '2'), listen('b', '3'), listen('a', '4')];
    await Promise.all(all.map(({ ready }) => ready));
    expect(driver.openings).toBe(1);
    expect(driver.connection.log).toEqual(['subscribe a', 'subscribe b']);
  });

  it('is ready when the server has acknowledged, not before', async () => {
    const { clock, driver, listen } = setUp({ answersAtOnce: false });
    const ready = watchPromise(listen('a').ready);
    await clock.advance(0);
    expect(ready.state).toBe('pending');
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(ready.state).toBe('resolved');
  });

  it('wakes every listener of the channel, and no others', async () => {
    const { driver, listen, woken } = setUp();
    await Promise.all([listen('a', '1').ready, listen('a', '2').ready, listen('b', '3').ready]);
    driver.connection.events.onMessage('a', '0');
    expect(woken).toEqual(['1', '2']);
  });

  it('unsubscribes when the last listener has stopped, and wakes the others', async () => {
    const { clock, driver, listen, woken } = setUp();
    const [first, second] = [listen('a', '1'), listen('a', '2')];
    await Promise.all([first.ready, second.ready]);
    first.stop();
    first.stop();
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a']);
    driver.connection.events.onMessage('a', '0');
    expect(woken).toEqual(['2']);
    second.stop();
    await clock.advance(LINGER_MS);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a']);
  });

  it('keeps a channel for a moment: a returning listener needs no new subscription', async () => {
    const { clock, driver, listen, woken } = setUp();
    for (const who of ['1', '2']) {
      const listening = listen('a', who);
      await listening.ready;
      driver.connection.events.onMessage('a', '0');
      listening.stop();
      driver.connection.events.onMessage('a', '0');
      await clock.advance(LINGER_MS - 1);
    }
    expect(woken).toEqual(['1', '2']);
    expect(driver.connection.log).toEqual(['subscribe a']);
    await clock.advance(1);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a']);
  });

  it('keeps every channel for the same time, counted from its own last listener', async () => {
    const { clock, driver, listen } = setUp();
    const all = [listen('a'), listen('b'), listen('c')] as const;
    await Promise.all(all.map(({ ready }) => ready));
    const unsubscribed = () => driver.connection.log.slice(3);
    all[1].stop();
    await clock.advance(300);
    all[0].stop();
    all[2].stop();
    await clock.advance(LINGER_MS - 301);
    expect(unsubscribed()).toEqual([]);
    await clock.advance(1);
    expect(unsubscribed()).toEqual(['unsubscribe b']);
    await clock.advance(299);
    expect(unsubscribed()).toEqual(['unsubscribe b']);
    await clock.advance(1);
    expect(unsubscribed()).toEqual(['unsubscribe b', 'unsubscribe a', 'unsubscribe c']);
    expect(clock.pendingTimers).toBe(1); // the ping
  });

  it('keeps no more than a hundred channels', async () => {
    const { clock, driver, listen } = setUp();
    const all = Array.from({ length: 101 }, (_, index) => listen(`c${index}`));
    await Promise.all(all.map(({ ready }) => ready));
    for (const listening of all) listening.stop();
    await clock.advance(0);
    expect(driver.connection.log.slice(101)).toEqual(['unsubscribe c100']);
  });

  it('subscribing and unsubscribing of a channel never cross', async () => {
    const { clock, driver, listen } = setUp({ answersAtOnce: false });
    const first = listen('a', '1');
    await clock.advance(0);
    first.stop();
    const second = watchPromise(listen('a', '2').ready);
    await clock.advance(0);
    // Nothing is sent while the first subscription is under way; then nothing is left to do.
    expect(driver.connection.log).toEqual(['subscribe a']);
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(second.state).toBe('resolved');
    expect(driver.connection.log).toEqual(['subscribe a']);
  });

  it('a listener that arrives during an unsubscription is subscribed after it', async () => {
    const { clock, driver, listen } = setUp({ answersAtOnce: false });
    const first = listen('a', '1');
    await clock.advance(0);
    driver.connection.request('subscribe a').resolve();
    await first.ready;
    first.stop();
    await clock.advance(LINGER_MS);
    const second = watchPromise(listen('a', '2').ready);
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a']);
    driver.connection.request('unsubscribe a').resolve();
    await clock.advance(0);
    expect(driver.connection.log).toEqual(['subscribe a', 'unsubscribe a', 'subscribe a']);
    expect(second.state).toBe('pending');
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(second.state).toBe('resolved');
  });

  it('after a break resubscribes all channels, and wakes each once its subscription is acknowledged', async () => {
    const { clock, driver, listen, woken } = setUp();
    await Promise.all([listen('a', '1').ready, listen('a', '2').ready, listen('b', '3').ready]);
    const broken = driver.connection;
    driver.answersAtOnce = false;
    broken.events.onDown(reset());
    await clock.advance(RECONNECTED_MS);
    expect(broken.isDestroyed).toBe(true);
    expect(driver.opened).toHaveLength(2);
    expect(driver.connection.log.slice(0, 2)).toEqual(['subscribe a', 'subscribe b']);
    expect(woken).toEqual([]);
    driver.connection.request('subscribe a').resolve();
    await clock.advance(0);
    expect(woken).toEqual(['1', '2']);
    driver.connection.request('subscribe b').resolve();
    await clock.advance(0);
    expect(woken).toEqual(['1', '2', '3']);
  });

  it('does not resubscribe a channel without listeners', async () => {
    const { clock, driver, listen } = setUp();
    const a = listen('a');
    await Promise.all([a.ready, listen('b').ready]);
    driver.connection.events.onDown(reset());
    a.stop();
    await clock.advance(RECONNECTED_MS);
    expect(driver.connection.log.filter((what) => what !== 'ping')).toEqual(['subscribe b']);
  });

  it('tries again with pauses while no connection is possible, then wakes all listeners', async () => {
    const { clock, driver, listen, woken } = setUp();
    await listen('a').ready;
    driver.failures.push(...Array.from({ length: 5 }, unreachable));
    driver.connection.events.onDown(reset());
    await clock.advance(20_000);
    expect(driver.openings).toBe(7);
    expect(woken).toEqual(['a']);
  });

  it('does not open connections rapidly while none is possible', async () => {
    const { clock, driver, listen } = setUp();
    driver.failures.push(...Array.from({ length: 1_000 }, unreachable));
    await listen('a').ready;
    await clock.advance(60_000);
    // A pause is at most two seconds, and at least half of that once it has grown.
    expect(driver.openings).toBeGreaterThan(29);
    expect(driver.openings).toBeLessThan(70);
  });

  it('a listener that arrives during an outage polls, and is woken when the connection is back', async () => {
    const { clock, driver, listen, reports, woken } = setUp();
    driver.failures.push(unreachable(), unreachable());
    await listen('a').ready;
    await listen('b').ready;
    expect(woken).toEqual([]);
    await clock.advance(5_000);
    expect(woken.sort()).toEqual(['a', 'b']);
    expect(reports.all).toEqual([]);
  });

  it('pings a quiet connection, and replaces it when that fails', async () => {
    const { clock, driver, listen, woken } = setUp();
    await listen('a').ready;
    const quiet = driver.connection;
    quiet.answersAtOnce = false;
    await clock.advance(2_000);
    expect(quiet.log).toEqual(['subscribe a', 'ping']);
    quiet.request('ping').reject(reset());
    await clock.advance(RECONNECTED_MS - 1);
    expect(quiet.isDestroyed).toBe(true);
    expect(driver.opened).toHaveLength(2);
    expect(driver.connection.log[0]).toBe('subscribe a');
    expect(woken).toEqual(['a']);
  });

  it('keeps pinging a connection that answers', async () => {
    const { clock, driver, listen } = setUp();
    await listen('a').ready;
    await clock.advance(60_000);
    expect(driver.openings).toBe(1);
    expect(driver.connection.log.filter((what) => what === 'ping')).toHaveLength(30);
  });

  it('drops a connection that is unused for half a minute, and opens a new one when needed', async () => {
    const { clock, driver, listen } = setUp();
    const a = listen('a');
    await a.ready;
    a.stop();
    await clock.advance(29_000);
    expect(driver.connection.isDestroyed).toBe(false);
    await clock.advance(6_000);
    expect(driver.connection.isDestroyed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    await listen('a').ready;
    expect(driver.openings).toBe(2);
    expect(driver.connection.log).toEqual(['subscribe a']);
  });

  it('keeps a connection that is used now and then', async () => {
    const { clock, driver, listen } = setUp();
    for (let i = 0; i < 5; i += 1) {
      const a = listen('a');
      await a.ready;
      await clock.advance(2_000);
      a.stop();
      await clock.advance(20_000);
    }
    expect(driver.openings).toBe(1);
  });

  it('falls back on polling without permission to subscribe, with one warning', async () => {
    const { clock, driver, listen, reports } = setUp({ answersAtOnce: false });
    for (const channel of ['a', 'b']) {
      const ready = watchPromise(listen(channel).ready);
      await clock.advance(0);
      driver.connection.request(`subscribe ${channel}`).reject(refusal());
      await clock.advance(0);
      expect(ready.state).toBe('resolved');
    }
    expect(reports.of('warning').map(({ code }) => code)).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
    expect(driver.openings).toBe(1);
    expect(driver.connection.isDestroyed).toBe(false);
  });

  describe('a channel that was refused', () => {
    /** A connection is there; `ask` has somebody listen for a moment, which the server allows or refuses. */
    async function connected() {
      const { clock, driver, listen, reports } = setUp();
      await listen('always').ready;
      const { connection } = driver;
      const ask = async (channel: string, isAllowed: boolean) => {
        connection.answersAtOnce = isAllowed;
        const listening = listen(channel);
        await clock.advance(0);
        if (!isAllowed) connection.request(`subscribe ${channel}`).reject(refusal());
        await listening.ready;
        connection.answersAtOnce = true;
        listening.stop();
        await clock.advance(LINGER_MS);
      };
      return { ask, reports };
    }

    it('and is allowed later clears the warning', async () => {
      const { ask, reports } = await connected();
      await ask('a', false);
      expect(reports.standing).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
      await ask('a', true);
      expect(reports.standing).toEqual([]);
    });

    it('does not count as allowed because another channel is', async () => {
      const { ask, reports } = await connected();
      await ask('a', false);
      await ask('b', true);
      expect(reports.standing).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
    });

    it('of one waiter of a fair lock stands for that lock: the next waiter has another channel', async () => {
      const { ask, reports } = await connected();
      await ask('channel:{orders}:c:1', false);
      await ask('channel:{parcels}:c:2', true);
      expect(reports.standing).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
      await ask('channel:{orders}:c:3', true);
      expect(reports.standing).toEqual([]);
    });

    it('is not a subscribed channel that cannot be unsubscribed: its messages arrive', async () => {
      const { clock, driver, listen, reports } = setUp();
      const listening = listen('a');
      await listening.ready;
      driver.connection.answersAtOnce = false;
      listening.stop();
      await clock.advance(LINGER_MS);
      driver.connection.request('unsubscribe a').reject(refusal());
      await clock.advance(0);
      expect(reports.standing).toEqual([]);
    });

    it('and is refused again after it was allowed warns again', async () => {
      const { ask, reports } = await connected();
      for (const isAllowed of [false, false, true, false]) await ask('a', isAllowed);
      expect(reports.of('warning').map(({ code }) => code)).toEqual([
        'HOLDFAST_NO_SUBSCRIBE',
        'HOLDFAST_NO_SUBSCRIBE',
      ]);
    });

    it('stands for other refused channels, until one of those is refused again', async () => {
      const { ask, reports } = await connected();
      await ask('a', false);
      await ask('b', false);
      await ask('a', true);
      expect(reports.standing).toEqual([]);
      await ask('b', false);
      await ask('a', true);
      expect(reports.standing).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
    });
  });

  it('a refused channel does not affect the others', async () => {
    const { clock, driver, listen, woken } = setUp();
    await listen('a').ready;
    driver.connection.answersAtOnce = false;
    void listen('b').ready;
    await clock.advance(0);
    driver.connection.request('subscribe b').reject(refusal());
    await clock.advance(0);
    driver.connection.events.onMessage('a', '0');
    expect(woken).toEqual(['a']);
  });

  it('tries again later if the connection was refused', async () => {
    const { clock, driver, listen } = setUp();
    driver.failures.push(refusal('NOAUTH Authentication required.'));
    const a = listen('a');
    await a.ready;
    a.stop();
    await clock.advance(60_000);
    await listen('a').ready;
    expect(driver.openings).toBe(2);
    expect(driver.connection.log).toEqual(['subscribe a']);
  });

  it('a refused connection does not mark one channel: any channel can show that it is allowed again', async () => {
    const { clock, driver, listen, reports } = setUp();
    driver.failures.push(refusal('NOAUTH Authentication required.'));
    const a = listen('a');
    await a.ready;
    a.stop();
    expect(reports.standing).toEqual(['HOLDFAST_NO_SUBSCRIBE']);
    await clock.advance(60_000);
    await listen('b').ready;
    expect(reports.standing).toEqual([]);
  });

  it('a late failure of the old connection does not affect the new one', async () => {
    const { clock, driver, listen } = setUp();
    await listen('a').ready;
    const old = driver.connection;
    old.answersAtOnce = false;
    void listen('b');
    await clock.advance(0);
    old.events.onDown(reset());
    await clock.advance(200);
    const fresh = driver.connection;
    expect(fresh).not.toBe(old);
    old.request('subscribe b').reject(reset());
    await clock.advance(RECONNECTED_MS);
    expect(fresh.isDestroyed).toBe(false);
    expect(fresh.log).toContain('subscribe b');
  });

  it('a down that comes from a connection already replaced is ignored', async () => {
    const { clock, driver, listen } = setUp();
    await listen('a').ready;
    const old = driver.connection;
    old.events.onDown(reset());
    await clock.advance(200);
    old.events.onDown(reset());
    await clock.advance(RECONNECTED_MS);
    expect(driver.openings).toBe(2);
    expect(driver.connection.isDestroyed).toBe(false);
  });

  it('closed, drops the connection, wakes no listener and opens nothing', async () => {
    const { clock, driver, hub, listen, woken } = setUp();
    await listen('a').ready;
    const { connection } = driver;
    hub.close();
    connection.events.onDown(reset());
    connection.events.onMessage('a', '0');
    await listen('b').ready;
    await clock.advance(60_000);
    expect(connection.isDestroyed).toBe(true);
    expect(driver.openings).toBe(1);
    expect(woken).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('closed while a connection is being opened, drops it as soon as it is there', async () => {
    const { clock, driver, hub, listen } = setUp();
    const opening = defer();
    driver.opening = opening.promise;
    const ready = watchPromise(listen('a').ready);
    await clock.advance(0);
    hub.close();
    opening.resolve();
    await clock.advance(0);
    expect(driver.connection.isDestroyed).toBe(true);
    expect(ready.state).toBe('resolved');
    expect(clock.pendingTimers).toBe(0);
  });

  it('closed while it waits to reconnect, does not reconnect', async () => {
    const { clock, driver, hub, listen } = setUp();
    await listen('a').ready;
    driver.connection.events.onDown(reset());
    hub.close();
    await clock.advance(60_000);
    expect(driver.openings).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });
});
