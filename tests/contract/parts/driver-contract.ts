/**
 * What every driver must do, written once and run for every client library against a real server.
 *
 * A file per library, in `libraries/`, calls `describeDriver` with a way to connect its client; what is special to
 * one library stays in that file.
 */

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { SystemClock } from '../../../src/clock.ts';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import type { Connection, Driver, Topology } from '../../../src/drivers/driver.ts';
import { OutcomeUnknownError } from '../../../src/errors.ts';
import { classify } from '../../../src/outcome.ts';
import { startServer, type TestServer } from '../../../src/testing/server.ts';
import { startCluster } from '../../harness/cluster.ts';
import { evalOn, evalShaOn } from '../../harness/script-calls.ts';
import { startSentinels } from '../../harness/sentinels.ts';
import { describeWithProcess } from '../../harness/servers.ts';
import { ownTlsServer } from '../../harness/topologies.ts';
import { eventually } from '../../harness/wait.ts';

/** How a test wants its client connected. */
export interface ClientSettings {
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly keyPrefix?: string;
  /** What to trust, where the server speaks TLS; PEM. */
  readonly ca?: string;
  /** Who is to be asked for the server, where the topology is that. */
  readonly sentinel?: { readonly name: string; readonly port: number };
}

/** A connected client of the library under test, and the driver made of it. */
export interface ConnectedClient {
  readonly driver: Driver;
  /** The user's client; undefined when the driver owns its connection. */
  readonly user?: {
    eventNames(): (string | symbol)[];
    listenerCount(event: string | symbol): number;
    /** A round trip on the user's own client. */
    ping(): Promise<unknown>;
  };
  close(): Promise<void>;
}

export interface DriverContext {
  readonly title: string;
  /** Whether the library can put a prefix before keys; false for what knows none. */
  readonly hasKeyPrefix: boolean;
  /** What the one server is: alone if not given, watched by a Sentinel, or a Cluster of a single node. */
  readonly topology?: Topology;
  /** Whether a command waits for a connection for as long as the library is told, as with Valkey GLIDE. */
  readonly keepsWaiting?: boolean;
  /** Whether commands wait in the library while its socket takes no more bytes. */
  readonly waitsForDrain?: boolean;
  /** Whether the library itself connects nobody who may not PING and ask for INFO, as Valkey GLIDE does. */
  readonly probesOnConnect?: boolean;
  connect(settings: ClientSettings): Promise<ConnectedClient>;
}

/** A subscriber connection that notes what it is told. */
export class Listener {
  readonly messages: string[] = [];
  readonly downs: Error[] = [];

  onMessage(channel: string, message: string): void {
    this.messages.push(`${channel}=${message}`);
  }

  onDown(reason: Error): void {
    this.downs.push(reason);
  }
}

interface OneServer {
  readonly server: TestServer;
  readonly sentinel?: ClientSettings['sentinel'];
  close(): Promise<void>;
}

async function startOne(topology: Topology): Promise<OneServer> {
  const found = inject('serverBinary');
  const binary = found === null ? {} : { binary: found };
  if (topology === 'standalone') {
    const server = await startServer(binary);
    return { server, close: () => server.close() };
  }
  if (topology === 'cluster') {
    const cluster = await startCluster({ primaries: 1, replicasEach: 0, ...binary });
    return { server: cluster.nodes[0] as TestServer, close: () => cluster.close() };
  }
  // A Sentinel that takes nothing for dead, whatever is done to the server here.
  const watched = await startSentinels({ sentinels: 1, replicas: 0, downAfterMs: 600_000, ...binary });
  return {
    server: watched.servers[0] as TestServer,
    sentinel: { name: watched.name, port: watched.sentinels[0]?.port as number },
    close: () => watched.close(),
  };
}

function sha1(text: string | Buffer): string {
  return createHash('sha1').update(text).digest('hex');
}

/** What a call is rejected with. */
export async function failure(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => expect.unreachable('the call should have been rejected'),
    (error: Error) => error,
  );
}

/** The id of each connection of a Sentinel in CLIENT LIST. */
const OF_SENTINEL = /^id=\d+(?=.* name=sentinel-)/gm;

export function describeDriver(context: DriverContext): void {
  describeWithProcess(`driver contract: ${context.title}`, () => {
    const { topology = 'standalone' } = context;
    let started: OneServer;
    let server: TestServer;
    const closers: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      started = await startOne(topology);
      ({ server } = started);
    });

    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

    afterAll(async () => {
      await started.close();
    });

    async function connect(
      settings: Omit<ClientSettings, 'port' | 'sentinel'> = {},
    ): Promise<ConnectedClient> {
      const { sentinel } = started;
      const connected = await context.connect({
        port: server.port,
        ...(sentinel !== undefined && { sentinel }),
        ...settings,
      });
      closers.push(() => connected.close());
      return connected;
    }

    async function subscriber(driver: Driver): Promise<{ subscriber: Connection; listener: Listener }> {
      const listener = new Listener();
      const subscriber = await driver.openConnection('', listener);
      closers.push(async () => subscriber.destroy());
      return { subscriber, listener };
    }

    /** The lines of CLIENT LIST, one per connection, that contain a text; without those of a Sentinel. */
    async function clients(containing = 'id='): Promise<string[]> {
      const list = String(await server.command('CLIENT', 'LIST'));
      return list
        .split('\n')
        .filter((line) => line.includes(containing) && !line.includes(' name=sentinel-'));
    }

    async function kill(line = ''): Promise<void> {
      await server.command('CLIENT', 'KILL', 'ID', /\bid=(\d+)/.exec(line)?.[1] ?? '');
    }

    describe('scripts', () => {
      it('returns integers, text, nil and nested arrays', async () => {
        const { driver } = await connect();
        const source = "return { 1, 'two', false, { -3, { 'four', {} } }, '5' }";
        expect(await evalOn(driver, source, [], [])).toEqual([1, 'two', null, [-3, ['four', []]], '5']);
        expect(await evalOn(driver, 'return false', [], [])).toBeNull();
        expect(await evalOn(driver, 'return 4503599627370495', [], [])).toBe(2 ** 52 - 1);
        expect(await evalOn(driver, "return redis.status_reply('DONE')", [], [])).toBe('DONE');
      });

      it('sends buffers byte by byte', async () => {
        const { driver } = await connect();
        const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
        const reply = await evalOn(
          driver,
          'return { redis.sha1hex(ARGV[1]), ARGV[2], #ARGV[3] }',
          [],
          [bytes, 'text', ''],
        );
        expect(reply).toEqual([sha1(bytes), 'text', 0]);
      });

      it('sends and returns text as UTF-8', async () => {
        const { driver } = await connect();
        const key = `schlüssel:🔒:${randomUUID()}`;
        const source = "redis.call('set', KEYS[1], ARGV[1]) return { KEYS[1], redis.call('get', KEYS[1]) }";
        expect(await evalOn(driver, source, [key], ['größe'])).toEqual([key, 'größe']);
        expect(await server.command('GET', key)).toBe('größe');
      });

      it('runs a cached script by its SHA-1, and rejects with NOSCRIPT if it is not cached', async () => {
        const { driver } = await connect();
        const source = `return { KEYS[1], ARGV[1], '${randomUUID()}' }`;
        const missing = await failure(evalShaOn(driver, sha1(source), ['k'], ['a']));
        expect(missing.message).toMatch(/^NOSCRIPT /);
        const reply = await evalOn(driver, source, ['k'], ['a']);
        expect(await evalShaOn(driver, sha1(source), ['k'], ['a'])).toEqual(reply);
      });

      it('sends keys without a prefix of the client', async () => {
        const keyPrefix = context.hasKeyPrefix ? 'app:' : '';
        const { driver } = await connect(context.hasKeyPrefix ? { keyPrefix } : {});
        const key = `raw:${randomUUID()}`;
        const source = "redis.call('set', KEYS[1], '1') return KEYS[1]";
        expect(driver.keyPrefix).toBe(keyPrefix);
        expect(await evalOn(driver, source, [key], [])).toBe(key);
        expect(await evalShaOn(driver, sha1(source), [key], [])).toBe(key);
        expect(await server.command('EXISTS', key)).toBe(1);
        expect(await server.command('EXISTS', `app:${key}`)).toBe(0);
      });
    });

    describe('error replies', () => {
      const write = "return redis.call('set', KEYS[1], '1')";

      async function refusal(driver: Driver, source: string): Promise<[string, string]> {
        const key = `errors:{${randomUUID()}}`;
        await server.command('SET', `${key}:text`, 'not a hash');
        const error = await failure(evalOn(driver, source, [key, `${key}:text`], []));
        return [error.message.split(' ', 1)[0] ?? '', classify(error)];
      }

      it('classifies permanent errors as refused', async () => {
        const { driver } = await connect();
        expect(await refusal(driver, "return redis.call('hlen', KEYS[2])")).toEqual(['WRONGTYPE', 'refused']);
        expect(await refusal(driver, "return redis.error_reply('OURS says no')")).toEqual([
          'OURS',
          'refused',
        ]);
        expect(await refusal(driver, 'return nonsense(')).toEqual(['ERR', 'refused']);
        expect(classify(await failure(evalShaOn(driver, sha1(randomUUID()), [], [])))).toBe('refused');
      });

      it('classifies a full server as refused', async () => {
        const { driver } = await connect();
        await server.command('CONFIG', 'SET', 'maxmemory', '1');
        closers.push(() => server.command('CONFIG', 'SET', 'maxmemory', '0'));
        const error = await failure(evalOn(driver, write, [`full:${randomUUID()}`], []));
        expect([error.message.slice(0, 4), classify(error)]).toEqual(['OOM ', 'refused']);
      });

      it('classifies a server that lacks replicas as transient', async () => {
        const { driver } = await connect();
        await server.command('CONFIG', 'SET', 'min-replicas-to-write', '1');
        closers.push(() => server.command('CONFIG', 'SET', 'min-replicas-to-write', '0'));
        const lacking = await failure(evalOn(driver, write, ['k'], []));
        expect([lacking.message.split(' ', 1)[0], classify(lacking)]).toEqual(['NOREPLICAS', 'transient']);
      });

      // A node of a Cluster is not made a replica by command, and then refuses by MOVED.
      if (topology !== 'cluster') {
        it('classifies a replica as transient', async () => {
          const { driver } = await connect();
          await server.command('REPLICAOF', '127.0.0.1', '1');
          closers.push(() => server.command('REPLICAOF', 'NO', 'ONE'));
          const demoted = await failure(evalOn(driver, write, ['k'], []));
          expect([demoted.message.split(' ', 1)[0], classify(demoted)]).toEqual(['READONLY', 'transient']);
        });
      }

      it('classifies a server busy with a script as transient', async () => {
        const { driver } = await connect();
        await server.command('CONFIG', 'SET', 'busy-reply-threshold', '20');
        const stuck = await connect();
        const loop = failure(evalOn(stuck.driver, 'while true do end', [], []));
        await expect
          .poll(() => server.command('GET', 'k').catch((error: Error) => error.message), { interval: 10 })
          .toMatch(/^BUSY /);
        const error = await failure(evalOn(driver, 'return 1', [], []));
        await server.command('SCRIPT', 'KILL');
        expect([error.message.split(' ', 1)[0], classify(error)]).toEqual(['BUSY', 'transient']);
        expect(classify(await loop)).toBe('refused');
      });
    });

    describe('the command connection', () => {
      const count = "return redis.call('incr', KEYS[1])";

      it('killed while a script runs: the outcome is unknown, and the script is not sent again', async () => {
        const { driver } = await connect();
        await server.command('CLIENT', 'PAUSE', '60000', 'WRITE');
        closers.push(() => server.command('CLIENT', 'UNPAUSE'));
        const key = `killed:${randomUUID()}`;
        const outcome = evalOn(driver, count, [key], []).catch(classify);
        await expect.poll(() => clients('cmd=eval '), { interval: 10 }).toHaveLength(1);
        await kill((await clients('cmd=eval '))[0]);
        await server.command('CLIENT', 'UNPAUSE');
        expect(await outcome).toBe('unknown');
        const look = () => evalOn(driver, "return redis.call('exists', KEYS[1])", [key], []);
        expect(await eventually(look)).toBe(0);
      });

      if (context.keepsWaiting !== true) {
        it('missing when a script is to be sent: a script whose caller gave up is never sent', async () => {
          const { driver } = await connect();
          const bounded = withCallTimeout(driver, new SystemClock(), 200);
          await server.kill();
          const key = `given-up:${randomUUID()}`;
          // The first may still find the connection open; the second finds none.
          for (let call = 0; call < 2; call += 1) await failure(evalOn(bounded, count, [key], []));
          await server.restart();
          const look = () => evalOn(driver, "return redis.call('exists', KEYS[1])", [key], []);
          // A node of a Cluster takes some seconds to be sure of itself.
          expect(await eventually(look, { withinMs: 10_000, everyMs: 20 })).toBe(0);
        });
      }

      if (context.waitsForDrain === true) {
        it('full when a script is to be sent: a script whose caller gave up is never sent', async () => {
          const { driver } = await connect();
          const bounded = withCallTimeout(driver, new SystemClock(), 200);
          await server.pause();
          const filling = evalOn(driver, 'return 1', ['k'], ['x'.repeat(32 * 1024 * 1024)]);
          const key = `given-up:${randomUUID()}`;
          const givenUp = failure(evalOn(bounded, count, [key], []));
          expect(await givenUp).toBeInstanceOf(OutcomeUnknownError);
          await server.resume();
          expect(await filling).toBe(1);
          expect(await evalOn(driver, "return redis.call('exists', KEYS[1])", [key], [])).toBe(0);
        });
      }

      it('settles within the deadline when the server is frozen, and works again after', async () => {
        const { driver } = await connect();
        const bounded = withCallTimeout(driver, new SystemClock(), 300);
        const { subscriber: open } = await subscriber(bounded);
        const before = (await clients()).length;
        await server.pause();
        const frozen = await Promise.all([
          failure(evalOn(bounded, 'return 1', [], [])),
          failure(evalShaOn(bounded, sha1('return 1'), [], [])),
          failure(open.ping()),
          failure(open.subscribe('c', 'plain')),
          failure(bounded.openConnection('', new Listener())),
        ]);
        await server.resume();
        for (const error of frozen) expect(error).toBeInstanceOf(OutcomeUnknownError);
        await expect.poll(() => evalOn(bounded, 'return 2', [], []).catch(() => 'down')).toBe(2);
        // The connection that was opening meanwhile has no owner and must not stay.
        await expect.poll(async () => (await clients()).length).toBeLessThanOrEqual(before);
      });
    });

    describe('subscribers', () => {
      it('subscribes before it resolves: a message sent right after arrives', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        const channel = `kanal:ü:${randomUUID()}`;
        await sub.subscribe(channel, 'plain');
        expect(await server.command('PUBLISH', channel, 'wäke 🔔')).toBe(1);
        await expect.poll(() => listener.messages).toEqual([`${channel}=wäke 🔔`]);
      });

      it('serves several channels and stops with unsubscribe', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        const [a, b] = [`a:${randomUUID()}`, `b:${randomUUID()}`];
        await Promise.all([sub.subscribe(a, 'plain'), sub.subscribe(b, 'plain')]);
        await server.command('PUBLISH', a, '1');
        await server.command('PUBLISH', b, '2');
        await sub.unsubscribe(a, 'plain');
        expect(await server.command('PUBLISH', a, '3')).toBe(0);
        expect(await server.command('PUBLISH', b, '4')).toBe(1);
        await expect.poll(() => listener.messages).toEqual([`${a}=1`, `${b}=2`, `${b}=4`]);
        await sub.unsubscribe(b, 'plain');
        expect(await server.command('PUBLISH', b, '5')).toBe(0);
        await sub.subscribe(a, 'plain');
        expect(await server.command('PUBLISH', a, '6')).toBe(1);
        await expect.poll(() => listener.messages).toEqual([`${a}=1`, `${b}=2`, `${b}=4`, `${a}=6`]);
      });

      it('keeps a subscription that was requested during its unsubscription', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        const channel = `again:${randomUUID()}`;
        await sub.subscribe(channel, 'plain');
        await Promise.all([sub.unsubscribe(channel, 'plain'), sub.subscribe(channel, 'plain'), sub.ping()]);
        expect(await server.command('PUBLISH', channel, 'still here')).toBe(1);
        await expect.poll(() => listener.messages).toEqual([`${channel}=still here`]);
      });

      it('answers ping before, during and after a subscription', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        await sub.ping();
        await sub.subscribe('c', 'plain');
        const last = async () => / cmd=(\w+)/.exec((await clients(' sub=1 '))[0] ?? '')?.[1];
        expect(await last()).toBe('subscribe');
        await sub.ping();
        expect(await last()).toBe('ping');
        await sub.unsubscribe('c', 'plain');
        await Promise.all([sub.ping(), sub.ping(), sub.ping()]);
        await sub.subscribe('c', 'plain');
        await Promise.all([sub.ping(), sub.ping(), server.command('PUBLISH', 'c', 'between'), sub.ping()]);
        await expect.poll(() => listener.messages).toEqual(['c=between']);
        expect(listener.downs).toEqual([]);
      });

      it('sends commands as they are given, in their order', async () => {
        const { driver } = await connect();
        const { subscriber: sub } = await subscriber(driver);
        const key = `sent:${randomUUID()}`;
        const script = "return { KEYS[1], redis.call('get', KEYS[1]), false }";
        const replies = await Promise.all([
          sub.send(['SET', key, '1']),
          sub.send(['INCR', key]),
          sub.send(['EVAL', script, '1', key]),
          failure(sub.send(['LPUSH', key, 'no list'])).then(({ message }) => message.split(' ', 1)[0]),
          sub.send(['WAIT', '0', '0']),
        ]);
        expect(replies).toEqual(['OK', 2, [key, '2', null], 'WRONGTYPE', 0]);
      });

      it('reports once that it was killed, and does not reconnect', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        await sub.subscribe('c', 'plain');
        const received = async () =>
          Number(/total_connections_received:(\d+)/.exec(String(await server.command('INFO', 'stats')))?.[1]);
        // Sentinels connect anew at any time, and are known by their name a moment later.
        const sentinels = async (): Promise<readonly string[]> =>
          String(await server.command('CLIENT', 'LIST')).match(OF_SENTINEL) ?? [];
        const [sentinelsBefore, receivedBefore] = [await sentinels(), await received()];
        const newOnes = async () => {
          const ofSentinels = (await sentinels()).filter((id) => !sentinelsBefore.includes(id));
          return (await received()) - receivedBefore - ofSentinels.length;
        };
        await kill((await clients(' sub=1 '))[0]);
        await expect.poll(() => listener.downs).toHaveLength(1);
        expect(listener.downs[0]).toBeInstanceOf(Error);
        await failure(sub.subscribe('d', 'plain'));
        await failure(sub.ping());
        // The libraries reconnect within this time when they are allowed to.
        await expect(vi.waitUntil(() => listener.downs.length > 1, { timeout: 400 })).rejects.toThrow(
          'Timed out',
        );
        // Below 0 if a Sentinel had connected before, and got its name since.
        await expect.poll(newOnes).toBeLessThanOrEqual(0);
      });

      it('reports nothing after destroy()', async () => {
        const { driver } = await connect();
        const { subscriber: sub, listener } = await subscriber(driver);
        await sub.subscribe('c', 'plain');
        sub.destroy();
        sub.destroy();
        await expect.poll(() => clients(' sub=1 ')).toEqual([]);
        await failure(sub.ping());
        expect(listener.downs).toEqual([]);
      });

      it('inherits the user, the password and the database', async () => {
        await server.command('ACL', 'SETUSER', 'alice', 'on', '>wonderland', '~*', '&*', '+@all');
        await server.command('ACL', 'SETUSER', 'default', 'resetpass', '>closed');
        closers.push(() => server.command('ACL', 'SETUSER', 'default', 'nopass'));
        const db = topology === 'cluster' ? 0 : 3;
        const { driver } = await connect({ username: 'alice', password: 'wonderland', db });
        const { subscriber: sub } = await subscriber(driver);
        await sub.subscribe('c', 'plain');
        const [line] = await clients(' sub=1 ');
        expect(line).toMatch(new RegExp(` db=${db} .* user=alice `));
      });

      // What it means by way of Sentinels and in a Cluster is in the contracts for those.
      if (topology === 'standalone') {
        it('inherits TLS', async () => {
          const { server: secured, port, ca } = await ownTlsServer();
          const { driver, close } = await context.connect({ port, ca });
          closers.push(close);
          expect(await evalOn(driver, 'return 1', [], [])).toBe(1);
          const { subscriber: sub, listener } = await subscriber(driver);
          await sub.subscribe('c', 'plain');
          const list = String(await secured.command('CLIENT', 'LIST', 'TYPE', 'pubsub'));
          expect(list).toContain(` laddr=127.0.0.1:${port} `);
          expect(await secured.command('PUBLISH', 'c', 'wake')).toBe(1);
          await expect.poll(() => listener.messages).toEqual(['c=wake']);
        });
      }

      it("rejects a subscription without permission with the server's message, and stays usable", async () => {
        await server.command('ACL', 'SETUSER', 'mute', 'on', '>pw', '~*', 'resetchannels', '+@all');
        const { driver } = await connect({ username: 'mute', password: 'pw' });
        const { subscriber: sub, listener } = await subscriber(driver);
        const error = await failure(sub.subscribe('c', 'plain'));
        expect(error.message).toMatch(/^NOPERM .*channel/);
        expect(classify(error)).toBe('refused');
        await sub.ping();
        await server.command('ACL', 'SETUSER', 'mute', '&*');
        await sub.subscribe('c', 'plain');
        expect(await server.command('PUBLISH', 'c', 'heard')).toBe(1);
        await expect.poll(() => listener.messages).toEqual(['c=heard']);
        expect(listener.downs).toEqual([]);
      });

      it('counts as alive for a user without permission to ping', async () => {
        const denied = ['-ping', '-info'];
        const atFirst = context.probesOnConnect === true ? [] : denied;
        await server.command('ACL', 'SETUSER', 'shy', 'on', '>pw', '~*', '&*', '+@all', ...atFirst);
        const { driver } = await connect({ username: 'shy', password: 'pw' });
        await server.command('ACL', 'SETUSER', 'shy', ...denied);
        const warn = vi.spyOn(console, 'warn');
        closers.push(async () => warn.mockRestore());
        const { subscriber: sub, listener } = await subscriber(driver);
        expect(warn).not.toHaveBeenCalled();
        await sub.subscribe('c', 'plain');
        await sub.ping();
        expect(await server.command('PUBLISH', 'c', '1')).toBe(1);
        await expect.poll(() => listener.messages).toEqual(['c=1']);
      });

      it('rejects with the reason when it cannot be opened', async () => {
        await server.command('ACL', 'SETUSER', 'leaver', 'on', '>old', '~*', '&*', '+@all');
        const { driver } = await connect({ username: 'leaver', password: 'old' });
        await evalOn(driver, 'return 1', [], []);
        await server.command('ACL', 'SETUSER', 'leaver', 'resetpass', '>new');
        const listener = new Listener();
        const error = await failure(driver.openConnection('', listener));
        expect(error.message).toMatch(/^WRONGPASS /);
        expect(listener.downs).toEqual([]);
      });
    });

    describe('close', () => {
      it('drops the subscribers without an event, also one that is still opening', async () => {
        const { driver } = await connect();
        const before = (await clients()).length;
        const { subscriber: sub, listener } = await subscriber(driver);
        await sub.subscribe('c', 'plain');
        const late = failure(driver.openConnection('', listener));
        await driver.close();
        expect(await late).toBeInstanceOf(Error);
        await expect.poll(() => clients(' sub=1 ')).toEqual([]);
        await expect.poll(async () => (await clients()).length).toBeLessThanOrEqual(before);
        expect(listener.downs).toEqual([]);
      });

      it("leaves the user's client as it was", async () => {
        const { driver, user } = await connect();
        if (user === undefined) {
          await driver.close();
          await failure(evalOn(driver, 'return 1', [], []));
          return;
        }
        const listeners = () =>
          user.eventNames().map((event) => `${String(event)}: ${user.listenerCount(event)}`);
        const before = listeners();
        const warnings: Error[] = [];
        const warn = (warning: Error) => warnings.push(warning);
        process.on('warning', warn);
        const opened = await Promise.all(Array.from({ length: 12 }, () => subscriber(driver)));
        await Promise.all(opened.map(({ subscriber: sub }) => sub.subscribe('c', 'plain')));
        expect(await server.command('PUBLISH', 'c', '1')).toBe(12);
        await driver.close();
        await expect.poll(() => clients(' sub=1 ')).toEqual([]);
        process.off('warning', warn);
        expect(await user.ping()).toBe('PONG');
        expect(listeners()).toEqual(before);
        expect(warnings).toEqual([]);
      });
    });

    it('scans all keys of a pattern, and only those', async () => {
      const { driver } = await connect();
      const family = `scan:{${randomUUID()}}`;
      const keys = Array.from({ length: 2500 }, (_, index) => `${family}:ü:${index}`);
      await evalOn(driver, "for _, key in ipairs(KEYS) do redis.call('set', key, '1') end", keys, []);
      await server.command('SET', `other:${family}`, '1');
      const found = new Set<string>();
      for await (const page of driver.scan(`${family}:*`)) for (const key of page) found.add(key);
      expect([...found].sort()).toEqual(keys.sort());
    });
  });
}
