/** What the server knows is wiped, or it has no memory left. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { DriverError } from '../../src/index.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, arena, join, leftovers, listenTo, SLACK_MS, timed } from './support/arena.ts';
import { LAYOUTS } from './support/kinds.ts';

describeWithProcess('wiped', () => {
  it.each(LAYOUTS)('FLUSHALL while $title is held: the signal aborts at the next renewal', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const watchdogMs = 6_000;
    const client = await join('Holdfast.connect', server, { watchdogMs });
    const { lost } = listenTo(client);
    const hold = await kind.get(client, name).lock();
    const told = aborted(hold.signal);
    await server.command('FLUSHALL');
    const { value, tookMs } = await told;
    expect(value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
    // Long before the lease could have ended.
    expect(tookMs).toBeLessThan(watchdogMs / 2);
    expect(lost).toEqual([{ kind: kind.kind, name, owner: hold.owner, label: LABEL, reason: 'notOwner' }]);

    const theirs = await kind.get(await join('Holdfast.connect', server), name).lock();
    expect(await hold.unlock()).toBe(false);
    // Asked after the release that the lost hold sends in the background.
    expect(await kind.get(client, name).isLocked()).toBe(true);
    expect(await kind.holderOn(server, name)).toBe(theirs.owner);
  });

  it.each(LAYOUTS)('FLUSHALL before any renewal: the unlock of $title answers false', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server);
    const hold = await kind.get(client, name).lock();
    await server.command('FLUSHALL');
    expect(await hold.unlock()).toBe(false);
    const section = kind.get(client, name).withLock(() => server.command('FLUSHALL'));
    await expect(section).rejects.toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
  });

  it.each(LAYOUTS)('SCRIPT FLUSH at random: no effect on $title', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, { watchdogMs: 3_000 });
    const { lost, error } = listenTo(client);
    let working = true;
    const flushing = (async () => {
      let flushes = 0;
      // Valkey 8.1 flushes in a thread of its own unless told otherwise, and crashed once in a storm of flushes.
      for (; working; flushes += 1) await server.command('SCRIPT', 'FLUSH', 'SYNC');
      return flushes;
    })();
    let inside = 0;
    await client.scope(async () => {
      const lock = kind.get(client, name);
      for (let round = 0; round < 50; round += 1) {
        const outer = await lock.lock();
        const inner = await lock.lock();
        await inner.extend(4_000);
        inside += await lock.getHoldCount();
        expect(await inner.unlock()).toBe(true);
        expect(await outer.unlock()).toBe(true);
      }
    });
    working = false;
    expect(await flushing).toBeGreaterThan(50);
    expect(inside).toBe(100);
    expect([lost, error]).toEqual([[], []]);
    expect(await server.command('EXISTS', name)).toBe(0);
  });
});

describeWithProcess('out of memory', () => {
  it.each(LAYOUTS)('noeviction: no new $title is granted, but renewals and unlocks work', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, { watchdogMs: 3_000 });
    const { lost, atRisk } = listenTo(client);
    const hold = await kind.get(client, name).lock();
    await server.command('CONFIG', 'SET', 'maxmemory', '1');

    const free = randomName();
    const { error, tookMs } = await timed(kind.get(client, free).lock());
    expect(error).toBeInstanceOf(DriverError);
    expect(error).toMatchObject({ message: expect.stringContaining('out of memory') });
    expect(tookMs).toBeLessThan(SLACK_MS);
    expect([...(await leftovers(server)).keys()]).toEqual([name]);

    await hold.extend(60_000);
    expect(await server.command('PTTL', name)).toBeGreaterThan(50_000);
    expect(await hold.unlock()).toBe(true);
    expect(await server.command('EXISTS', name)).toBe(0);
    expect([lost, atRisk]).toEqual([[], []]);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(await (await kind.get(client, free).lock()).unlock()).toBe(true);
  });

  it.each(LAYOUTS)('noeviction: the watchdog keeps $title, and re-entry works', async (kind) => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, { watchdogMs: 3_000 });
    const { lost } = listenTo(client);
    await client.scope(async () => {
      const lock = kind.get(client, name);
      const outer = await lock.lock();
      const inner = await lock.lock();
      await server.command('CONFIG', 'SET', 'maxmemory', '1');
      // Lower than a renewal leaves it, so that the next one shows.
      await server.command('PEXPIRE', name, 2_000);
      await eventually(async () => expect(await server.command('PTTL', name)).toBeGreaterThan(2_000));
      expect(await inner.unlock()).toBe(true);
      outer.assertHeld();
      expect(await outer.unlock()).toBe(true);
    });
    expect(lost).toEqual([]);
    expect(await server.command('EXISTS', name)).toBe(0);
  });

  describe.each(['volatile-lru', 'volatile-ttl', 'allkeys-lru'])('a policy of %s', (policy) => {
    it('warns once', async () => {
      const { server } = await arena({ args: ['--maxmemory', '100mb', '--maxmemory-policy', policy] });
      const warned: unknown[] = [];
      const onWarning = (warning: Error) => {
        if (warning.name === 'HoldfastWarning') warned.push(warning);
      };
      process.on('warning', onWarning);
      onTestFinished(() => {
        process.off('warning', onWarning);
      });
      const client = await join('Holdfast.connect', server);
      expect(await client.capabilities()).toMatchObject({ evictionPolicy: policy, mayEvictLocks: true });
      // Nobody could listen yet when the connection was made: the process is warned instead.
      await eventually(() => expect(warned).toMatchObject([{ code: 'HOLDFAST_EVICTION' }]));
      const { warning } = listenTo(client);
      await (await client.getLock(randomName()).lock()).unlock();
      expect(warning).toEqual([]);

      const late = await join('default ioredis 6', server);
      const heard = listenTo(late).warning;
      await (await late.getLock(randomName()).lock()).unlock();
      await (await late.getLock(randomName()).lock()).unlock();
      await late.capabilities();
      expect(heard).toMatchObject([{ code: 'HOLDFAST_EVICTION', message: expect.stringContaining(policy) }]);
    });
  });
});
