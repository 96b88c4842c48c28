/** What the compiler must know of the client, its options and its events; never run. */
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Redis as Iovalkey } from 'iovalkey';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { createClient as createClient5, createCluster as createCluster5 } from 'redis5';
import { expectTypeOf } from 'vitest';
import {
  type AcquireMessage,
  type Capabilities,
  type ClientEvents,
  type ClientOptions,
  type ClientRecord,
  type CloseOptions,
  type Description,
  type EventMessage,
  type Health,
  type HolderInfo,
  Holdfast,
  type HoldMessage,
  type LossReason,
  type Owner,
  type OwnerInfo,
  type PermitInfo,
} from '../../src/index.ts';

export async function connecting(): Promise<void> {
  await using client = await Holdfast.connect('redis://127.0.0.1:6379');
  expectTypeOf(client).toEqualTypeOf<Holdfast>();
  expectTypeOf<Holdfast>().toExtend<AsyncDisposable>();
  expectTypeOf<typeof Holdfast.connect>().returns.toEqualTypeOf<Promise<Holdfast>>();
  expectTypeOf<typeof Holdfast.from>().returns.toEqualTypeOf<Holdfast>();
  await Holdfast.connect({ url: 'redis://127.0.0.1', username: 'u', password: 'p', tls: true, db: 1 });
  await Holdfast.connect({ host: '127.0.0.1', port: 6379 }, { watchdogMs: 5_000 });
  await Holdfast.connect({ embedded: true });
  const nodes = [{ host: '127.0.0.1', port: 7000 }, { host: 'node' }];
  await Holdfast.connect({
    sentinels: nodes,
    name: 'orders',
    sentinelPassword: 'p',
    sentinelTls: true,
    db: 1,
  });
  await Holdfast.connect({ cluster: nodes, username: 'u', tls: {}, natMap: () => null });
  await Holdfast.connect({ master: { url: 'redis://127.0.0.1' }, replicas: [{ host: '127.0.0.2' }] });
  // @ts-expect-error: a Cluster has only database 0
  await Holdfast.connect({ cluster: nodes, db: 1 });
  // @ts-expect-error: a node is an object
  await Holdfast.connect({ cluster: ['127.0.0.1:7000'] });
  // @ts-expect-error: Sentinels are asked for a name
  await Holdfast.connect({ sentinels: nodes });
  // @ts-expect-error: connect needs to know where to
  await Holdfast.connect();
  // @ts-expect-error: a misspelt field
  await Holdfast.connect({ hostname: '127.0.0.1' });
  // @ts-expect-error: a port is a number
  await Holdfast.connect({ port: '6379' });
  // @ts-expect-error: clients are made by connect and from
  new Holdfast({});
}

export async function bringing(): Promise<void> {
  Holdfast.from(new Redis(), { watchdogMs: 5_000 });
  Holdfast.from(new Cluster([]));
  Holdfast.from(new Redis5());
  Holdfast.from(new Cluster5([]));
  Holdfast.from(new Iovalkey());
  Holdfast.from(createClient());
  Holdfast.from(createClientPool());
  Holdfast.from(createCluster({ rootNodes: [] }));
  Holdfast.from(createSentinel({ name: 'orders', sentinelRootNodes: [] }));
  Holdfast.from(createClient5());
  Holdfast.from(createCluster5({ rootNodes: [] }));
  const config = { addresses: [{ host: '127.0.0.1' }] };
  Holdfast.from(await GlideClient.createClient(config));
  Holdfast.from(await GlideClusterClient.createClient(config));
  Holdfast.from({ client: await GlideClient.createClient(config), config });
  // @ts-expect-error: a number is no client
  Holdfast.from(42);
  // @ts-expect-error: an address is for connect
  Holdfast.from('redis://127.0.0.1');
  // @ts-expect-error: options are no client
  Holdfast.from({ host: '127.0.0.1' });
}

export function options(): void {
  const all: ClientOptions = {
    watchdogMs: 30_000,
    commandTimeoutMs: 3_000,
    fairWaitMs: 300_000,
    replicas: 'auto',
    replicaTimeoutMs: 1_000,
    guard: false,
    mapName: (name) => `app:${name}`,
    shardedPubSub: 'auto',
    closeOnSignals: true,
  };
  expectTypeOf<typeof Holdfast.from>().parameter(1).toEqualTypeOf<ClientOptions | undefined>();
  Holdfast.from(new Redis(), all);
  Holdfast.from(new Redis(), { closeOnSignals: { drainMs: 10_000 } });
  // @ts-expect-error: a drain needs its time
  Holdfast.from(new Redis(), { closeOnSignals: {} });
  expectTypeOf<ClientOptions['mapName']>().toEqualTypeOf<((name: string) => string) | undefined>();
  // @ts-expect-error: an unknown option
  Holdfast.from(new Redis(), { watchdog: 30_000 });
  // @ts-expect-error: milliseconds are a number
  Holdfast.from(new Redis(), { watchdogMs: '30s' });
  // @ts-expect-error: a name is mapped to a name
  Holdfast.from(new Redis(), { mapName: (name: string) => name.length });
}

export async function using(client: Holdfast): Promise<void> {
  expectTypeOf(client.id).toExtend<string>();
  expectTypeOf(client.owner()).toEqualTypeOf<Owner>();
  expectTypeOf(client.scope(() => 42)).toEqualTypeOf<Promise<number>>();
  expectTypeOf(client.scope(async () => 'text')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(client.capabilities()).resolves.toEqualTypeOf<Capabilities>();
  expectTypeOf<Capabilities['pubSub']>().toEqualTypeOf<'sharded' | 'plain' | 'polling'>();
  expectTypeOf<Capabilities['replicas']['required']>().toBeNumber();
  expectTypeOf<Capabilities['guard']['obstacle']>().toEqualTypeOf<string | null>();
  expectTypeOf(client.health()).resolves.toEqualTypeOf<Health>();
  expectTypeOf<Health['status']>().toEqualTypeOf<'ok' | 'degraded' | 'down'>();
  expectTypeOf(client.list('orders:*')).resolves.toEqualTypeOf<Description[]>();
  expectTypeOf(client.close()).resolves.toBeVoid();
  expectTypeOf(client.close({ drainMs: 10_000 })).resolves.toBeVoid();
  expectTypeOf(client.close).parameter(0).toEqualTypeOf<CloseOptions | undefined>();
  // @ts-expect-error: milliseconds are a number
  await client.close({ drainMs: '10s' });

  const description = await client.inspect('name');
  expectTypeOf(description).toEqualTypeOf<Description>();
  // @ts-expect-error: only locks have holders
  expectTypeOf(description.holders).toBeArray();
  // @ts-expect-error: a whole number is one of these only
  await client.inspect('name', { as: 'lock' });
  expectTypeOf(client.list('orders:*', { counters: true })).resolves.toEqualTypeOf<Description[]>();
  if (description.kind === 'fair') expectTypeOf(description.waiters).toEqualTypeOf<readonly OwnerInfo[]>();
  if (description.kind === 'fenced') expectTypeOf(description.lastToken).toBeNumber();
  if (description.kind === 'permitSemaphore') {
    expectTypeOf(description.permits).toEqualTypeOf<readonly PermitInfo[]>();
  }
  if (description.kind === 'rateLimiter') {
    expectTypeOf(description.freePermits).toEqualTypeOf<number | null>();
  }
  if (description.kind === 'lock') {
    expectTypeOf(description.holders).toEqualTypeOf<readonly [HolderInfo]>();
    expectTypeOf(description.holders[0].client).toEqualTypeOf<ClientRecord | null>();
    expectTypeOf(description.holders[0].heldSince).toEqualTypeOf<Date | null>();
  }
  if (description.kind === 'readWrite') {
    expectTypeOf(description.mode).toEqualTypeOf<'read' | 'write'>();
    expectTypeOf(description.holders[0]?.owner).toEqualTypeOf<string | undefined>();
    expectTypeOf(description.holders[0]?.holdCount).toEqualTypeOf<number | undefined>();
    expectTypeOf(description.holders[0]?.remainingMs).toEqualTypeOf<number | undefined>();
  }
  if (description.kind === 'other') expectTypeOf(description.type).toBeString();
}

export function listening(client: Holdfast): void {
  client
    .on('lost', (event) => {
      expectTypeOf(event.name).toBeString();
      expectTypeOf(event.owner).toBeString();
      expectTypeOf(event.label).toBeString();
      expectTypeOf(event.reason).toEqualTypeOf<LossReason>();
    })
    .on('atRisk', ({ remainingMs, error }) => {
      expectTypeOf(remainingMs).toBeNumber();
      expectTypeOf(error).toBeUnknown();
    })
    .on('stalled', ({ lateMs }) => expectTypeOf(lateMs).toBeNumber())
    .on('warning', ({ code, about }) => {
      expectTypeOf(code).toExtend<`HOLDFAST_${string}`>();
      expectTypeOf(about?.stack).toEqualTypeOf<string | undefined>();
    })
    .on('error', ({ error, during }) => {
      expectTypeOf(error).toBeUnknown();
      expectTypeOf(during).toBeString();
    })
    .off('lost', () => {});
  expectTypeOf<'lost' | 'atRisk' | 'error' | 'warning' | 'stalled'>().toExtend<keyof ClientEvents>();
  // @ts-expect-error: an unknown event
  client.on('lose', () => {});
  // @ts-expect-error: not what this event carries
  client.on('lost', (event: { lateMs: number }) => event);
}

export function observing(lost: EventMessage<'lost'>, acquire: AcquireMessage, hold: HoldMessage): void {
  expectTypeOf(lost.clientId).toBeString();
  expectTypeOf(lost.reason).toEqualTypeOf<LossReason>();
  expectTypeOf(acquire.outcome).toEqualTypeOf<'granted' | 'timeout' | 'aborted' | 'failed' | undefined>();
  expectTypeOf(hold.acquire).toEqualTypeOf<AcquireMessage>();
  // @ts-expect-error: only the client says who acquires it
  acquire.clientId = 'another';
}
