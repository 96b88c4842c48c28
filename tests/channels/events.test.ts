/** The events of clients, as their channels tell them; `renewals.test.ts` has `atRisk`, `locks.test.ts` has `lost`. */
import { describe, expect, it } from 'vitest';
import { lockChannel } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, openShared, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { connect, hear } from './support/hearing.ts';

describe('the channel of an event', () => {
  it('tells that the event loop was blocked', async () => {
    const client = await connect({ watchdogMs: 900 });
    const heard = hear(client);
    await client.getLock(randomName()).lock();
    // The watchdog looks every 300 ms, and half a second late is too late.
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    await eventually(() => expect(heard.of('stalled')).not.toEqual([]));
    const [stalled] = heard.of('stalled');
    expect(stalled).toEqual({ clientId: client.id, lateMs: expect.any(Number) });
    expect(stalled?.lateMs).toBeGreaterThan(500);
  });

  it('tells of a warning, with what it is about', async () => {
    const client = await connect({ warnHeldMs: 30 });
    client.on('warning', () => {});
    const heard = hear(client);
    const hold = await client.getLock(randomName()).lock();
    await eventually(() => expect(heard.of('warning')).not.toEqual([]));
    expect(heard.of('warning')[0]).toMatchObject({
      clientId: client.id,
      code: 'HOLDFAST_HELD_LONG',
      message: expect.stringContaining(hold.name),
      about: { name: hold.name, owner: hold.owner },
    });
  });

  it('tells of an error that no caller waits for', async () => {
    const client = await connect();
    const raw = await openShared();
    const semaphore = client.getSemaphore(randomName(), { permits: 1 });
    const heard = hear(client);
    await semaphore.withPermit(async () => {
      await raw.command('DEL', semaphore.name);
      await raw.command('ZADD', semaphore.name, '1', 'no semaphore');
    });
    // The section reports its failed release, and the client the first repetition that the server refuses.
    const told = { clientId: client.id, during: `release "${semaphore.name}"`, error: expect.any(Error) };
    await eventually(() => expect(heard.of('error')).toEqual([told, told]));
    // Without the wrong key, the repetitions end.
    await raw.command('DEL', semaphore.name);
    expect(heard.of('release')).toMatchObject([{ outcome: 'failed', error: heard.of('error')[0]?.error }]);
  });
});

describe('the wake-up of a waiter', () => {
  itWithProcess('is told when its subscription is back, after a gap', async () => {
    const server = await ownServer();
    const proxy = await ownProxy(server);
    const name = randomName();
    const channel = lockChannel(name);
    const other = await connect({}, server.url);
    const hold = await other.getLock(name).lock();
    const client = await connect({}, proxy.url);
    const heard = hear(client);
    const waiting = client.getLock(name).lock();
    const subscribers = async () => server.command('PUBSUB', 'NUMSUB', channel);
    await eventually(async () => expect(await subscribers()).toEqual([channel, 1]));

    const again = proxy.holdRequest(/^SUBSCRIBE/);
    expect(await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBe(1);
    await again.held;
    // Announced to nobody.
    expect(await hold.unlock()).toBe(true);
    again.release();
    await waiting;
    expect(heard.of('wake')).toEqual([{ clientId: client.id, by: 'subscribed', source: channel }]);
  });
});
