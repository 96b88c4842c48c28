/** Every fault of the proxy, shown on a real server behind it. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type FaultProxy, RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import {
  describeWithProcess,
  openRaw,
  openShared,
  ownProxy,
  ownServer,
  sharedServer,
} from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

const proxyToShared = () => ownProxy(sharedServer());
const through = (proxy: FaultProxy) => openRaw(proxy.host, proxy.port);

/** A reset, or the end that Node sends just before it when the reader is quick. */
const BROKEN = /ECONNRESET|The connection was closed/;

/** Whether a promise is still open after the server has answered others several times. */
async function staysOpen(promise: Promise<unknown>): Promise<boolean> {
  let isOpen = true;
  const settled = () => {
    isOpen = false;
  };
  promise.then(settled, settled);
  const direct = await openShared();
  for (let call = 0; call < 30; call += 1) await direct.command('PING');
  return isOpen;
}

const broken = async (connection: RawConnection) => {
  await connection.closed;
  return connection.isOpen;
};

describe('the network', () => {
  it('passes everything through while nothing is wrong', async () => {
    const proxy = await proxyToShared();
    const [connection, subscriber] = [await through(proxy), await through(proxy)];
    const [key, channel] = [randomName(), randomName()];
    const large = 'z'.repeat(200_000);
    expect(await connection.command('SET', key, large)).toBe('OK');
    expect(await connection.command('GET', key)).toBe(large);
    await subscriber.subscribe(channel);
    const message = subscriber.nextMessage();
    await connection.command('PUBLISH', channel, 'hello');
    expect(await message).toEqual({ channel, message: 'hello' });
    expect([proxy.connections, proxy.accepted]).toEqual([2, 2]);
    await connection.close();
    await eventually(() => expect(proxy.connections).toBe(1));
  });

  it('speaks RESP3 as well', async () => {
    const proxy = await proxyToShared();
    const connection = await through(proxy);
    expect(await connection.command('HELLO', 3)).toContain('proto');
    const key = randomName();
    expect(await connection.command('HSET', key, 'field', 'value')).toBe(1);
    expect(await connection.command('HGETALL', key)).toEqual(['field', 'value']);
    const swallowed = proxy.swallowReply(key, { after: 'silence' });
    expect(await staysOpen(connection.command('HSET', key, 'field', 'changed'))).toBe(true);
    await swallowed;
  });

  it('blackhole: open and new connections get neither an answer nor an end', async () => {
    const proxy = await proxyToShared();
    const [old, idle] = [await through(proxy), await through(proxy)];
    const key = randomName();
    await Promise.all([old.command('PING'), idle.command('PING')]);
    proxy.blackhole();
    const lost = old.command('SET', key, 'lost');
    const young = await through(proxy);
    const unheard = young.command('PING');
    expect(await staysOpen(Promise.race([lost, unheard]))).toBe(true);
    expect([old.isOpen, young.isOpen]).toEqual([true, true]);
    const direct = await openShared();
    expect(await direct.command('EXISTS', key)).toBe(0);

    await proxy.heal();
    await expect(lost).rejects.toThrow(BROKEN);
    await expect(unheard).rejects.toThrow(BROKEN);
    expect(await idle.command('PING')).toBe('PONG');
    expect(await (await through(proxy)).command('PING')).toBe('PONG');
    expect(await direct.command('EXISTS', key)).toBe(0);
  });

  it('blackholeWhere: affects only the connection that subscribed', async () => {
    const proxy = await proxyToShared();
    const [subscriber, other, direct] = [await through(proxy), await through(proxy), await openShared()];
    const channel = randomName();
    await subscriber.subscribe(channel);
    await other.command('PING');
    const heard: string[] = [];
    subscriber.onMessage(({ message }) => heard.push(message));
    proxy.blackholeWhere(`SUBSCRIBE ${channel}`);
    // The server still takes the subscriber for alive, and hands the message to the proxy.
    expect(await direct.command('PUBLISH', channel, 'unheard')).toBe(1);
    expect(await other.command('ECHO', 'still here')).toBe('still here');
    expect(await staysOpen(subscriber.command('PING'))).toBe(true);
    expect(heard).toEqual([]);
    expect(subscriber.isOpen).toBe(true);
    await proxy.heal();
    expect(await broken(subscriber)).toBe(false);
    expect(other.isOpen).toBe(true);
  });

  it('refuse: connections are reset, new ones refused, until it heals', async () => {
    const proxy = await proxyToShared();
    const connection = await through(proxy);
    const blocked = connection.command('BLPOP', randomName(), 0);
    const [refused, reset] = [proxy.refuse(), expect(blocked).rejects.toThrow(BROKEN)];
    await Promise.all([refused, reset]);
    await expect(RawConnection.connect(proxy.host, proxy.port)).rejects.toThrow('ECONNREFUSED');
    expect(proxy.connections).toBe(0);
    await proxy.heal();
    expect(await (await through(proxy)).command('PING')).toBe('PONG');
  });

  it('delay: each direction takes that long, and order is kept', async () => {
    const proxy = await proxyToShared();
    const connection = await through(proxy);
    proxy.delay(60);
    const startedAt = performance.now();
    const replies = await Promise.all(['a', 'b', 'c'].map((text) => connection.command('ECHO', text)));
    expect(replies).toEqual(['a', 'b', 'c']);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(120);
    proxy.delay(0);
    expect(await connection.command('ECHO', 'd')).toBe('d');
  });

  it('fragment: values arrive in pieces, and complete', async () => {
    const proxy = await proxyToShared();
    const key = randomName();
    const pieces: number[] = [];
    const socket = connect(proxy.port, proxy.host);
    try {
      let received = '';
      socket.on('data', (chunk) => {
        pieces.push(chunk.length);
        received += chunk.toString();
      });
      proxy.fragment(3);
      socket.write('*2\r\n$4\r\nECHO\r\n$10\r\n0123456789\r\n');
      await eventually(() => expect(received).toBe('$10\r\n0123456789\r\n'));
    } finally {
      socket.destroy();
    }
    expect(pieces.length).toBeGreaterThan(1);
    proxy.fragment(1);
    const connection = await through(proxy);
    const text = 'grüße '.repeat(100);
    expect(await connection.command('SET', key, text)).toBe('OK');
    expect(await connection.command('GET', key)).toBe(text);
  });

  it('dropConnections: all are reset, new ones are welcome', async () => {
    const proxy = await proxyToShared();
    const connections = [await through(proxy), await through(proxy)];
    const blocked = connections.map((connection) => connection.command('BLPOP', randomName(), 0));
    const failed = blocked.map((command) => expect(command).rejects.toThrow(BROKEN));
    proxy.dropConnections();
    await Promise.all(failed);
    expect(await Promise.all(connections.map(broken))).toEqual([false, false]);
    expect(await (await through(proxy)).command('PING')).toBe('PONG');
  });
});

describe('a single request', () => {
  const SCRIPT = "return redis.call('INCR', KEYS[1])";

  it('swallowReply: executed by the server, unknown to the client, whose connection is reset', async () => {
    const proxy = await proxyToShared();
    const [client, bystander, direct] = [await through(proxy), await through(proxy), await openShared()];
    const [key, otherKey] = [randomName(), randomName()];
    const sha1 = String(await direct.command('SCRIPT', 'LOAD', SCRIPT));
    const swallowed = proxy.swallowReply(new RegExp(`^EVALSHA ${sha1} 1 ${key}`, 'g'));
    // Other keys, and replies to earlier requests of the same pipeline, are not touched.
    expect(await bystander.command('evalsha', sha1, 1, otherKey)).toBe(1);
    const earlier = client.command('ECHO', 'earlier');
    const unknown = client.command('evalsha', sha1, 1, key);
    const reset = expect(unknown).rejects.toThrow(BROKEN);
    expect(await earlier).toBe('earlier');
    await reset;
    await swallowed;
    expect(await direct.command('GET', key)).toBe('1');
    // The rule is used up: a repeat gets its answer.
    expect(await bystander.command('evalsha', sha1, 1, key)).toBe(2);
  });

  it('swallowReply with silence and a count: connections stay open without an answer', async () => {
    const proxy = await proxyToShared();
    const [one, two, direct] = [await through(proxy), await through(proxy), await openShared()];
    const key = randomName();
    const swallowed = proxy.swallowReply(key, { after: 'silence', count: 2 });
    const first = one.command('INCR', key);
    await eventually(async () => expect(await direct.command('GET', key)).toBe('1'));
    expect(await staysOpen(swallowed)).toBe(true);
    const second = two.command('INCR', key);
    await swallowed;
    expect(await direct.command('GET', key)).toBe('2');
    expect(await staysOpen(Promise.race([first, second]))).toBe(true);
    expect(proxy.connections).toBe(2);
    await proxy.heal();
    await expect(Promise.race([first, second])).rejects.toThrow(BROKEN);
  });

  it('swallowReply with a signal: lifted, it lets the next reply pass', async () => {
    const proxy = await proxyToShared();
    const connection = await through(proxy);
    const key = randomName();
    const lifting = new AbortController();
    const swallowed = proxy.swallowReply(key, { count: 2, signal: lifting.signal });
    expect(await staysOpen(swallowed)).toBe(true);
    lifting.abort();
    await expect(swallowed).rejects.toThrow('lifted before a reply');
    expect(await connection.command('SET', key, '1', 'PX', 1_000)).toBe('OK');
  });

  it('swallowReply of a subscription: the server has it, messages before it still arrive', async () => {
    const proxy = await proxyToShared();
    const [subscriber, direct] = [await through(proxy), await openShared()];
    const [known, fatal] = [randomName(), randomName()];
    await subscriber.subscribe(known);
    const message = subscriber.nextMessage();
    await direct.command('PUBLISH', known, 'before');
    expect(await message).toEqual({ channel: known, message: 'before' });
    const swallowed = proxy.swallowReply(`SUBSCRIBE ${fatal}`, { after: 'silence' });
    const subscribing = subscriber.subscribe(fatal);
    await swallowed;
    expect(await direct.command('PUBSUB', 'NUMSUB', fatal)).toEqual([fatal, 1]);
    expect(await staysOpen(subscribing)).toBe(true);
  });

  it('finds a request that arrives byte by byte', async () => {
    const [outer, key] = [await proxyToShared(), randomName()];
    const inner = await ownProxy(outer);
    const connection = await through(inner);
    inner.fragment(1);
    const swallowed = outer.swallowReply(`INCR ${key}`);
    await expect(connection.command('INCR', key)).rejects.toThrow(BROKEN);
    await swallowed;
    expect(await (await openShared()).command('GET', key)).toBe('1');
  });

  it('holdRequest: holds a request and those behind it, until released', async () => {
    const proxy = await proxyToShared();
    const [client, other, direct] = [await through(proxy), await through(proxy), await openShared()];
    const key = randomName();
    const hold = proxy.holdRequest(key);
    const held = client.command('SET', key, 'late');
    const behind = client.command('ECHO', 'behind');
    await hold.held;
    expect(await staysOpen(Promise.race([held, behind]))).toBe(true);
    expect(await direct.command('EXISTS', key)).toBe(0);
    expect(await other.command('SET', key, 'early')).toBe('OK');
    hold.release();
    expect([await held, await behind]).toEqual(['OK', 'behind']);
    expect(await direct.command('GET', key)).toBe('late');
  });

  it('holdRequest: a zombie is delivered although its client has gone', async () => {
    const proxy = await proxyToShared();
    const direct = await openShared();
    const [closedKey, resetKey] = [randomName(), randomName()];
    const [closing, resetting] = [await through(proxy), await through(proxy)];
    const holds = [proxy.holdRequest(closedKey), proxy.holdRequest(resetKey)];
    const given = [closing.command('SET', closedKey, 'zombie'), resetting.command('SET', resetKey, 'zombie')];
    const failed = given.map((command) => expect(command).rejects.toThrow(BROKEN));
    await Promise.all(holds.map((hold) => hold.held));
    await closing.close();
    proxy.dropConnections();
    await Promise.all(failed);
    await eventually(() => expect(proxy.connections).toBe(0));
    expect(await direct.command('EXISTS', closedKey, resetKey)).toBe(0);
    for (const hold of holds) hold.release();
    await eventually(async () =>
      expect(await direct.command('MGET', closedKey, resetKey)).toEqual(['zombie', 'zombie']),
    );
  });

  it('a rule that nothing matched: released, it lets all pass; closing the proxy rejects it', async () => {
    const proxy = await proxyToShared();
    const client = await through(proxy);
    const lifted = proxy.holdRequest('ECHO');
    lifted.release();
    expect(await client.command('ECHO', 'free')).toBe('free');
    const [hold, swallow] = [proxy.holdRequest('NEVER'), proxy.swallowReply('NEVER')];
    await proxy.close();
    await expect(hold.held).rejects.toThrow('closed before a request matched NEVER');
    await expect(swallow).rejects.toThrow('closed before a reply to NEVER was swallowed');
    expect(await broken(client)).toBe(false);
  });
});

describeWithProcess('between servers', () => {
  it('carries replication, and a black hole stops it unnoticed', async () => {
    const primary = await ownServer({ args: ['--repl-diskless-sync-delay', '0'] });
    const replica = await ownServer();
    const proxy = await ownProxy(primary);
    await replica.command('REPLICAOF', proxy.host, proxy.port);
    await primary.command('SET', 'first', '1');
    await eventually(async () => expect(await replica.command('GET', 'first')).toBe('1'));
    proxy.blackhole();
    await primary.command('SET', 'second', '2');
    expect(await primary.command('WAIT', 1, 50)).toBe(0);
    expect(await replica.command('GET', 'second')).toBeNull();
    expect(await replica.command('INFO', 'replication')).toContain('master_link_status:up');
    await proxy.heal();
    await eventually(async () => expect(await replica.command('GET', 'second')).toBe('2'), {
      withinMs: 15_000,
    });
  }, 30_000);

  it('a server that dies ends the connections through the proxy; back, it serves new ones', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const connection = await through(proxy);
    await connection.command('PING');
    await server.kill();
    expect(await broken(connection)).toBe(false);
    await server.restart();
    expect(await (await through(proxy)).command('PING')).toBe('PONG');
  });
});
