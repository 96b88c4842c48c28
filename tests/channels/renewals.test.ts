/** What is published of a renewal: by the watchdog, by `extend` and by `updateLease`. */
import { describe, expect, it } from 'vitest';
import type { Hold, Holdfast, LockOptions, Permit } from '../../src/index.ts';
import { LABEL, randomName } from '../harness/names.ts';
import { itWithProcess, openShared, ownProxy, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { connect, type Hearing, hear, RENEWED } from './support/hearing.ts';
import { KINDS } from './support/kinds.ts';

interface Renewed {
  readonly kind: string;
  readonly take: (client: Holdfast, name: string, options?: LockOptions) => Promise<Hold | Permit>;
}

/** All that is renewed. Of a multi lock or red lock, the members are. */
const RENEWED_KINDS: readonly Renewed[] = [
  ...KINDS.map(({ kind, of }) => ({
    kind,
    take: (client: Holdfast, name: string, options?: LockOptions) => of(client, name).lock(options),
  })),
  { kind: 'multi', take: (client, name, options) => client.getMultiLock(client.getLock(name)).lock(options) },
  { kind: 'red', take: (client, name, options) => client.getRedLock(client.getLock(name)).lock(options) },
  {
    kind: 'permitSemaphore',
    take: (client, name, options) =>
      client.getPermitExpirableSemaphore(name, { permits: 1 }).acquire(options),
  },
];

const renewals = (heard: Hearing) => heard.steps().filter((step) => step.startsWith('renew'));

describe.each(RENEWED_KINDS)('a hold of the kind $kind', ({ take }) => {
  it('tells of its renewals by the watchdog', async () => {
    const client = await connect({ watchdogMs: 900 });
    const heard = hear(client);
    await take(client, randomName());
    await eventually(() => expect(heard.of('renew')).not.toEqual([]));
    expect(heard.of('renew')[0]).toEqual({ clientId: client.id, label: LABEL, holds: 1, gone: 0 });
    expect(renewals(heard).slice(0, 4)).toEqual(RENEWED);
  });

  it('tells of its extension', async () => {
    const client = await connect({ watchdogMs: 900 });
    // The watchdog does not renew a hold with a lease.
    const hold = await take(client, randomName(), { leaseMs: 900 });
    const heard = hear(client);
    await hold.extend(20_000);
    expect(heard.steps()).toEqual(RENEWED);
    expect(heard.of('renew')).toEqual([{ clientId: client.id, label: LABEL, holds: 1, gone: 0 }]);
  });
});

describe('a renewal', () => {
  it('is told with how many holds it renews, and how many are gone', async () => {
    const client = await connect({ watchdogMs: 300 });
    const raw = await openShared();
    const heard = hear(client);
    const holds = await Promise.all([1, 2, 3].map(() => client.getLock(randomName()).lock()));
    await eventually(() => expect(heard.of('renew')).not.toEqual([]));
    expect(heard.of('renew')[0]).toEqual({ clientId: client.id, label: LABEL, holds: 3, gone: 0 });
    await raw.command('DEL', holds[0]?.name as string);
    await eventually(() => expect(heard.of('renew').at(-1)).toMatchObject({ gone: 1 }));
  });

  itWithProcess(
    'that fails is told with its error, and puts the hold at risk',
    async () => {
      const proxy = await ownProxy(await ownServer());
      const client = await connect({ watchdogMs: 6_000, commandTimeoutMs: 500 }, proxy.url);
      const heard = hear(client);
      const name = randomName();
      const { owner } = await client.getFairLock(name).lock();
      proxy.blackhole();
      await eventually(() => expect(heard.of('atRisk')).not.toEqual([]), { withinMs: 10_000 });
      const [atRisk] = heard.of('atRisk');
      expect(atRisk).toEqual({
        clientId: client.id,
        label: LABEL,
        kind: 'fair',
        name,
        owner,
        remainingMs: expect.any(Number),
        error: expect.any(Error),
      });
      await eventually(() => expect(heard.of('renew')).not.toEqual([]), { withinMs: 10_000 });
      expect(heard.of('renew')[0]).toEqual({
        clientId: client.id,
        label: LABEL,
        holds: 1,
        error: expect.any(Error),
      });
      expect(renewals(heard).slice(0, 5)).toEqual([
        'renew start',
        'renew end',
        'renew error',
        'renew asyncStart',
        'renew asyncEnd',
      ]);
    },
    30_000,
  );
});

describe('an extension', () => {
  it('that finds the hold gone is told so', async () => {
    const client = await connect();
    const raw = await openShared();
    const hold = await client.getLock(randomName()).lock();
    await raw.command('DEL', hold.name);
    const heard = hear(client);
    await expect(hold.extend(60_000)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' });
    expect(heard.of('renew')).toMatchObject([{ holds: 1, gone: 1 }]);
  });
});

describe('another lease for a permit, by its id', () => {
  it('is told as a renewal, also of a permit that is gone', async () => {
    const client = await connect();
    const semaphore = client.getPermitExpirableSemaphore(randomName(), { permits: 1 });
    const permit = await semaphore.acquire();
    const heard = hear(client);
    expect(await semaphore.updateLease(permit.id, 60_000)).toBe(true);
    expect(heard.steps()).toEqual(RENEWED);
    await permit.release();
    expect(await semaphore.updateLease(permit.id, 60_000)).toBe(false);
    expect(heard.of('renew')).toMatchObject([
      { clientId: client.id, label: LABEL, holds: 1, gone: 0 },
      { holds: 1, gone: 1 },
    ]);
  });
});
