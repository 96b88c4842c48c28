/** What a client tells its listeners, and that listeners cannot disturb it. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientEvents, EventMessage, Hold } from '../../../src/index.ts';
import { LABEL, randomName } from '../../harness/names.ts';
import { describeWithProcess, openRaw, ownProxy, ownServer, sharedServer } from '../../harness/servers.ts';
import { eventually } from '../../harness/wait.ts';
import { type Context, onOneServer } from '../support/context.ts';
import { processWarnings, whenAborted } from '../support/moments.ts';

export function describeEvents(context: Context): void {
  describe('events', () => {
    it('reports a lost hold after its signal has aborted', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const hold = await client.getLock(randomName()).lock();
      const { signal } = hold;
      const told: unknown[] = [];
      client.on('lost', (event) => told.push([event, signal.aborted]));
      await raw.command('DEL', hold.name);
      await expect(hold.extend(1_000)).rejects.toThrow(hold.name);
      expect(told).toEqual([
        [{ kind: 'lock', name: hold.name, owner: hold.owner, label: LABEL, reason: 'notOwner' }, true],
      ]);
    });

    it('does not call a removed listener', async () => {
      const client = await context.client();
      const heard: string[] = [];
      const [off, on] = [() => heard.push('off'), () => heard.push('on')];
      expect(client.on('lost', off).on('lost', on).off('lost', off)).toBe(client);
      await client.getLock(randomName()).lock();
      await client.close();
      expect(heard).toEqual(['on']);
    });

    it('calls a once() listener only once', async () => {
      const client = await context.client();
      const heard: string[] = [];
      const off = () => heard.push('off');
      expect(client.once('lost', ({ name }) => heard.push(name))).toBe(client);
      client.once('lost', off).off('lost', off);
      const locks = [client.getLock(randomName()), client.getLock(randomName())];
      for (const lock of locks) {
        await lock.lock();
        await lock.forceUnlock();
      }
      expect(heard).toEqual([locks[0]?.name]);
    });

    it('refuses a listener of an event that does not exist', async () => {
      const client = await context.client();
      for (const listen of [client.on, client.once, client.off]) {
        expect(() => listen.call(client, 'loss' as never, () => {})).toThrow(
          'There is no event "loss"; the events are lost, atRisk, stalled, warning, error',
        );
      }
    });

    it('ignores the errors of listeners', async () => {
      const client = await context.client();
      const raw = await context.raw();
      const warnings = processWarnings();
      const broken = new Error('from a listener');
      const heard: string[] = [];
      client.on('lost', () => {
        throw broken;
      });
      client.on('lost', ({ reason }) => heard.push(reason));
      const lock = client.getLock(randomName());
      const hold = await lock.lock();
      const { signal } = hold;
      const waiter = lock.lock();
      expect(await lock.forceUnlock()).toBe(true);
      expect(signal.reason).toMatchObject({ reason: 'forced' });
      expect(heard).toEqual(['forced']);
      const next = await waiter;
      expect(await raw.command('HGETALL', lock.name)).toEqual([next.owner, '1']);
      await eventually(() => expect(warnings).toEqual([broken]));
    });

    onOneServer(context, it)(
      'reports a hold at risk when a renewal fails, and keeps it when the next renewal succeeds',
      async () => {
        const proxy = await ownProxy(sharedServer());
        const client = await context.client({ watchdogMs: 4_500, commandTimeoutMs: 800 }, proxy);
        const risks: ClientEvents['atRisk'][] = [];
        const lost: ClientEvents['lost'][] = [];
        client.on('atRisk', (event) => risks.push(event));
        client.on('lost', (event) => lost.push(event));
        const hold = await client.getLock(randomName()).lock();
        await client.capabilities();
        proxy.blackhole();
        await eventually(() => risks.length > 0);
        await proxy.heal();
        const [risk] = risks;
        expect(risk).toMatchObject({ name: hold.name, owner: hold.owner });
        expect(risk?.remainingMs).toBeGreaterThan(0);
        expect(risk?.remainingMs).toBeLessThan(4_500);
        expect(risk?.error).toBeInstanceOf(Error);
        const atRiskMs = risk?.remainingMs as number;
        await eventually(() => hold.remainingMs > atRiskMs);
        expect(await hold.unlock()).toBe(true);
        expect(risks).toHaveLength(1);
        expect(lost).toEqual([]);
      },
    );

    onOneServer(context, it)(
      'reports a hold as lost (unreachable) when no renewal succeeds, before its lease ends',
      async () => {
        const raw = await context.raw();
        const proxy = await ownProxy(sharedServer());
        const client = await context.client({ watchdogMs: 4_500, commandTimeoutMs: 800 }, proxy);
        const hold = await client.getLock(randomName()).lock();
        client.on('error', () => {});
        await client.capabilities();
        proxy.blackhole();
        expect(await whenAborted(hold.signal)).toMatchObject({ reason: 'unreachable' });
        expect(Number(await raw.command('PTTL', hold.name))).toBeGreaterThan(0);
        await proxy.heal();
      },
    );

    it('publishes every event on its diagnostics channel, with the id of its client', async () => {
      const heard: unknown[] = [];
      const client = await context.client();
      for (const channel of ['holdfast:lost', 'holdfast:error']) {
        const note = (message: unknown) => {
          const event = message as EventMessage<'lost' | 'error'>;
          if (event.clientId === client.id) heard.push([channel, event]);
        };
        subscribe(channel, note);
        onTestFinished(() => {
          unsubscribe(channel, note);
        });
      }
      const hold = await client.getLock(randomName()).lock();
      const broken = new Error('from onRelease');
      const onRelease = () => Promise.reject(broken);
      await client.getLock(randomName()).withLock(() => 1, { onRelease });
      await client.close();
      const { name, owner } = hold;
      expect(heard).toMatchObject([
        ['holdfast:error', { error: broken }],
        ['holdfast:lost', { name, owner, label: LABEL, reason: 'closed' }],
      ]);
    });
  });

  onOneServer(context, describeWithProcess)('warnings', () => {
    it.each(['allkeys-lru', 'volatile-lru'])('warns of a server that may evict locks: %s', async (policy) => {
      const server = await ownServer({ args: ['--maxmemory', '100mb', '--maxmemory-policy', policy] });
      const warnings = processWarnings();
      // A client that connects by itself asks before anybody can listen.
      const silent = await context.client({}, server);
      silent.getLock(randomName());
      await silent.capabilities();
      await eventually(() => expect(warnings).toMatchObject([{ code: 'HOLDFAST_EVICTION' }]));
      expect(warnings[0]).toMatchObject({ name: 'HoldfastWarning' });
      expect(warnings[0]?.message).toContain(policy);
      expect(await silent.capabilities()).toMatchObject({ evictionPolicy: policy, mayEvictLocks: true });
    });

    it.each([
      ['a limit without eviction', ['--maxmemory', '100mb', '--maxmemory-policy', 'noeviction']],
      ['no limit', ['--maxmemory-policy', 'allkeys-lru']],
    ])('does not warn of %s', async (_title, args) => {
      const server = await ownServer({ args });
      const warnings = processWarnings();
      const client = await context.client({}, server);
      const told: unknown[] = [];
      client.on('warning', (event) => told.push(event));
      await (await client.getLock(randomName()).lock()).unlock();
      expect(await client.capabilities()).toMatchObject({ mayEvictLocks: false });
      expect([told, warnings]).toEqual([[], []]);
    });

    it('warns once when it may not publish, and releases all the same', async () => {
      const server = await ownServer();
      const raw = await openRaw(server.host, server.port);
      await raw.command('ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '&*', '+@all', '-publish');
      // A client that connects by itself finds out before anybody can listen.
      const before = processWarnings();
      const client = await context.client({}, { ...addressOf(server), username: 'mute', password: 'secret' });
      const warnings: ClientEvents['warning'][] = [];
      client.on('warning', (event) => warnings.push(event));
      const lock = client.getLock(randomName());
      for (let round = 0; round < 2; round += 1) {
        expect(await (await lock.lock()).unlock()).toBe(true);
        expect(await raw.command('EXISTS', lock.name)).toBe(0);
      }
      expect([...before, ...warnings]).toMatchObject([{ code: 'HOLDFAST_NO_PUBLISH' }]);
    });

    it('warns once when it may not subscribe, and waits all the same', async () => {
      const server = await ownServer();
      const raw = await openRaw(server.host, server.port);
      await raw.command('ACL', 'SETUSER', 'deaf', 'on', '>secret', '~*', '&*', '+@all', '-subscribe');
      const client = await context.client({}, { ...addressOf(server), username: 'deaf', password: 'secret' });
      const warnings: ClientEvents['warning'][] = [];
      client.on('warning', (event) => warnings.push(event));
      for (let round = 0; round < 2; round += 1) {
        const name = randomName();
        await raw.command('HSET', name, 'somebody', 1);
        await raw.command('PEXPIRE', name, 500);
        const hold = (await client.getLock(name).tryLock({ waitMs: 10_000 })) as Hold;
        expect(await raw.command('HGETALL', name)).toEqual([hold.owner, '1']);
      }
      expect(warnings).toMatchObject([{ code: 'HOLDFAST_NO_SUBSCRIBE' }]);
    });
  });
}

function addressOf({ host, port }: { host: string; port: number }): { host: string; port: number } {
  return { host, port };
}
