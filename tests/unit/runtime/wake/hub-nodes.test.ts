/** Wake-ups of several servers: each channel where it is at home, and nobody silenced by a server that is down. */
import { describe, expect, it } from 'vitest';
import type { ChannelKind, Connection, ConnectionEvents } from '../../../../src/drivers/driver.ts';
import { WakeChannels } from '../../../../src/runtime/wake/channels.ts';
import { WakeHub } from '../../../../src/runtime/wake/hub.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';
import { Reports } from '../../support/bench.ts';
import { type Deferred, defer, refusal, reset, unreachable, watchPromise } from '../../support/deferred.ts';
import { HandDrivenConnection, HandDrivenDriver } from '../../support/hand-driven.ts';

/** Longer than the longest pause before another try. */
const PAUSE_MS = 2_000;

/** A connection that also notes how a channel was subscribed to. */
class NodeConnection extends HandDrivenConnection {
  constructor(
    readonly node: string,
    events: ConnectionEvents,
  ) {
    super(events);
  }

  override subscribe(channel: string, kind: ChannelKind = 'plain'): Promise<void> {
    return super.subscribe(kind === 'plain' ? channel : `${kind} ${channel}`);
  }

  override unsubscribe(channel: string, kind: ChannelKind = 'plain'): Promise<void> {
    return super.unsubscribe(kind === 'plain' ? channel : `${kind} ${channel}`);
  }

  /** Without pings. */
  get asks(): string[] {
    return this.log.filter((what) => what !== 'ping');
  }
}

/** Servers by name; a channel is at home on the one that its first letter names, unless it was moved. */
class Nodes extends HandDrivenDriver {
  readonly homes = new Map<string, string>();
  readonly rediscovered: string[] = [];
  readonly down = new Set<string>();
  /** What is found out by looking anew. */
  onRediscover: () => void = () => {};
  /** While set, looking anew takes that long. */
  looking: Deferred<void> | undefined;

  override nodeOf(channel = ''): string {
    return this.homes.get(channel) ?? (channel[0] ?? '').toUpperCase();
  }

  override async rediscover(channel = ''): Promise<void> {
    this.rediscovered.push(channel);
    await this.looking?.promise;
    this.onRediscover();
  }

  override async openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    this.openings += 1;
    if (this.down.has(node)) throw unreachable();
    const connection = new NodeConnection(node, events);
    connection.answersAtOnce = this.answersAtOnce;
    this.opened.push(connection);
    return connection;
  }

  /** The connection to a server that was opened last. */
  to(node: string): NodeConnection {
    const found = this.opened.findLast((one) => one instanceof NodeConnection && one.node === node);
    if (!(found instanceof NodeConnection)) throw new Error(`no connection to ${node} was opened`);
    return found;
  }
}

function setUp({
  kind = 'plain',
  answersAtOnce = true,
}: {
  kind?: ChannelKind;
  answersAtOnce?: boolean;
} = {}) {
  const clock = new ManualClock();
  const driver = new Nodes();
  driver.answersAtOnce = answersAtOnce;
  const reports = new Reports();
  const { report, takeBack } = reports;
  const channels = new WakeChannels(kind);
  const hub = new WakeHub({ clientId: 'c', driver, clock, channels, report, takeBack });
  const woken: string[] = [];
  const listen = (channel: string) =>
    hub.listen(channel, { onMessage: () => woken.push(channel) > 0, onMissed: () => woken.push(channel) });
  return { channels, clock, driver, hub, listen, reports, woken };
}

describe('channels of several servers', () => {
  it('are subscribed to on their own servers, on one connection for each server', async () => {
    const { driver, listen, woken } = setUp();
    await Promise.all(['a1', 'b1', 'a2'].map((channel) => listen(channel).ready));
    expect(driver.openings).toBe(2);
    expect(driver.to('A').asks).toEqual(['subscribe a1', 'subscribe a2']);
    expect(driver.to('B').asks).toEqual(['subscribe b1']);
    driver.to('B').events.onMessage('b1', '0');
    expect(woken).toEqual(['b1']);
  });

  it('a server that is down does not affect others, and its listeners are woken when it is back', async () => {
    const { clock, driver, listen, woken } = setUp();
    driver.down.add('B');
    await Promise.all([listen('a').ready, listen('b').ready]);
    await clock.advance(10_000);
    driver.to('A').events.onMessage('a', '0');
    expect(woken).toEqual(['a']);
    expect(driver.to('A').isDestroyed).toBe(false);
    driver.down.delete('B');
    await clock.advance(PAUSE_MS * 2);
    expect(woken).toEqual(['a', 'b']);
    driver.to('B').events.onMessage('b', '0');
    expect(woken).toEqual(['a', 'b', 'b']);
  });

  it('a broken connection resubscribes only its own channels', async () => {
    const { clock, driver, listen, woken } = setUp();
    await Promise.all([listen('a').ready, listen('b').ready]);
    driver.to('B').events.onDown(reset());
    await clock.advance(PAUSE_MS);
    expect(driver.to('A').asks).toEqual(['subscribe a']);
    expect(woken).toEqual(['b']);
  });

  it('closed, drops the connections to all servers', async () => {
    const { clock, driver, hub, listen } = setUp();
    await Promise.all([listen('a').ready, listen('b').ready]);
    hub.close();
    await clock.advance(60_000);
    expect([driver.to('A').isDestroyed, driver.to('B').isDestroyed]).toEqual([true, true]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a channel that has moved', () => {
  it('is found and subscribed to on its new server, and its listeners are woken', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded', answersAtOnce: false });
    const ready = watchPromise(listen('a').ready);
    await clock.advance(0);
    driver.onRediscover = () => driver.homes.set('a', 'B');
    driver.answersAtOnce = true;
    driver.to('A').request('subscribe sharded a').reject(refusal('MOVED 15495 127.0.0.1:7001'));
    await clock.advance(0);
    // Whoever waits is not kept: it polls until then.
    expect(ready.state).toBe('resolved');
    await clock.advance(PAUSE_MS);
    expect(driver.rediscovered).toEqual(['a']);
    expect(driver.to('B').asks).toEqual(['subscribe sharded a']);
    expect(driver.to('A').isDestroyed).toBe(false);
    expect(woken).toEqual(['a']);
    driver.to('B').events.onMessage('a', '0');
    expect(woken).toEqual(['a', 'a']);
  });

  it('is looked for with pauses while its server is unknown', async () => {
    const { clock, driver, listen, reports } = setUp({ kind: 'sharded', answersAtOnce: false });
    void listen('a');
    await clock.advance(0);
    for (let i = 0; i < 20; i += 1) {
      driver.to('A').request('subscribe sharded a').reject(refusal('CLUSTERDOWN The cluster is down'));
      await clock.advance(PAUSE_MS);
    }
    expect(driver.to('A').asks.length).toBeGreaterThan(15);
    expect(driver.to('A').asks.length).toBeLessThanOrEqual(21);
    expect(driver.openings).toBe(1);
    expect(reports.of('warning')).toEqual([]);
  });

  it('does not affect the other channels of its former server', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded' });
    await listen('a1').ready;
    driver.to('A').answersAtOnce = false;
    void listen('a2');
    await clock.advance(0);
    driver.onRediscover = () => driver.homes.set('a2', 'B');
    driver.to('A').request('subscribe sharded a2').reject(refusal('MOVED 1 127.0.0.1:7001'));
    await clock.advance(PAUSE_MS);
    driver.to('A').events.onMessage('a1', '0');
    expect(woken).toEqual(['a2', 'a1']);
    expect(driver.to('A').asks).toEqual(['subscribe sharded a1', 'subscribe sharded a2']);
  });

  it('no longer depends on its former server: a break there does not wake its listeners', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded', answersAtOnce: false });
    void listen('a');
    await clock.advance(0);
    driver.onRediscover = () => driver.homes.set('a', 'B');
    driver.answersAtOnce = true;
    driver.to('A').request('subscribe sharded a').reject(refusal('MOVED 1 127.0.0.1:7001'));
    await clock.advance(PAUSE_MS);
    expect(woken).toEqual(['a']);
    driver.to('A').events.onDown(reset());
    await clock.advance(PAUSE_MS * 2);
    expect(woken).toEqual(['a']);
    expect(driver.to('B').asks).toEqual(['subscribe sharded a']);
    expect(driver.openings).toBe(2);
  });

  it('on a connection that then breaks is found, with the other channels of that server', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded' });
    await Promise.all([listen('a1').ready, listen('a2').ready]);
    driver.onRediscover = () => {
      driver.homes.set('a1', 'B');
      driver.homes.set('a2', 'C');
    };
    driver.to('A').events.onDown(new Error('A sharded channel has moved to another node'));
    await clock.advance(PAUSE_MS);
    expect(driver.to('B').asks).toEqual(['subscribe sharded a1']);
    expect(driver.to('C').asks).toEqual(['subscribe sharded a2']);
    expect(woken.sort()).toEqual(['a1', 'a2']);
    expect(driver.opened.filter((one) => one instanceof NodeConnection && one.node === 'A')).toHaveLength(1);
  });

  it('without listeners by then is not subscribed to', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded', answersAtOnce: false });
    const listening = listen('a');
    await clock.advance(0);
    driver.onRediscover = () => driver.homes.set('a', 'B');
    driver.to('A').request('subscribe sharded a').reject(refusal('MOVED 1 127.0.0.1:7001'));
    await clock.advance(0);
    listening.stop();
    await clock.advance(PAUSE_MS);
    expect(driver.openings).toBe(1);
    expect(driver.to('A').asks).toEqual(['subscribe sharded a']);
    expect(woken).toEqual([]);
  });

  it('that loses its listeners during the search is not subscribed to', async () => {
    const { clock, driver, listen } = setUp({ kind: 'sharded' });
    const listening = listen('a');
    await listening.ready;
    driver.looking = defer();
    driver.onRediscover = () => driver.homes.set('a', 'B');
    driver.to('A').events.onDown(reset());
    await clock.advance(PAUSE_MS);
    expect(driver.rediscovered).toEqual(['a']);
    listening.stop();
    driver.looking.resolve();
    await clock.advance(60_000);
    expect(driver.openings).toBe(1);
  });

  it('that loses and gains listeners during the search is subscribed to once, on its new server', async () => {
    const { clock, driver, listen, woken } = setUp({ kind: 'sharded' });
    const first = listen('a');
    await first.ready;
    driver.onRediscover = () => driver.homes.set('a', 'B');
    driver.to('A').events.onDown(reset());
    first.stop();
    driver.onRediscover();
    await listen('a').ready;
    await clock.advance(PAUSE_MS * 2);
    expect(driver.to('B').asks).toEqual(['subscribe sharded a']);
    driver.to('B').events.onMessage('a', '0');
    expect(woken).toEqual(['a']);
  });

  it('closed while it is looked for: nothing is subscribed to', async () => {
    const { clock, driver, hub, listen } = setUp({ kind: 'sharded' });
    await listen('a').ready;
    driver.looking = defer();
    driver.to('A').events.onDown(reset());
    await clock.advance(PAUSE_MS);
    hub.close();
    driver.looking.resolve();
    await clock.advance(60_000);
    expect(driver.openings).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('servers without sharded channels', () => {
  it.each(['ERR unknown command `SSUBSCRIBE`, with args beginning with: `a`', "ERR Unknown subcommand 'x'"])(
    'use plain channels from then on, all of them, without a warning: %s',
    async (text) => {
      const { channels, clock, driver, listen, reports, woken } = setUp({
        kind: 'sharded',
        answersAtOnce: false,
      });
      void listen('a');
      await clock.advance(0);
      expect(channels.publish).toBe('SPUBLISH');
      driver.answersAtOnce = true;
      driver.to('A').request('subscribe sharded a').reject(refusal(text));
      driver.to('A').answersAtOnce = true;
      await clock.advance(PAUSE_MS);
      expect(driver.to('A').asks).toEqual(['subscribe sharded a', 'subscribe a']);
      expect(woken).toEqual(['a']);
      await listen('b').ready;
      expect(driver.to('B').asks).toEqual(['subscribe b']);
      expect(reports.of('warning')).toEqual([]);
      expect(channels.publish).toBe('PUBLISH');
    },
  );

  it('found by another connection: sharded subscriptions are undone as sharded', async () => {
    const { channels, clock, driver, listen } = setUp({ kind: 'sharded' });
    const before = listen('a1');
    await before.ready;
    channels.giveUpSharded();
    await listen('a2').ready;
    before.stop();
    await clock.advance(1_000);
    expect(driver.to('A').asks).toEqual(['subscribe sharded a1', 'subscribe a2', 'unsubscribe sharded a1']);
  });
});
