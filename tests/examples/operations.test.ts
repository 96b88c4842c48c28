/** What docs/operations.md tells people to set: that servers take it, and that it is enough. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast, type Target } from '../../src/index.ts';
import { whenAcknowledging } from '../chaos/support/acknowledging.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { ownCluster, ownReplicas } from '../harness/topologies.ts';
import { ROOT } from './support/doc-blocks.ts';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const page = read('docs/operations.md');
const [userLine = '', clusterLine = ''] = page.match(/^ACL SETUSER .*$/gm) ?? [];
const words = (line: string) => line.split(' ').slice(1);

const login = { username: 'holdfast', password: 'change-me' };
// Short, as a new server keeps a grace first; long enough for a machine that stalls.
const GRACE_MS = 4_000;
const guarded = { guard: { graceMs: GRACE_MS }, watchdogMs: GRACE_MS } satisfies ClientOptions;

async function open(target: Target, options: ClientOptions) {
  const silent: unknown[] = [];
  const onWarning = (warning: Error) => {
    if (warning.name === 'HoldfastWarning') silent.push(warning);
  };
  // A client that connects by itself looks before anybody can listen.
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const client = await Holdfast.connect(target, options);
  onTestFinished(() => client.close());
  client.on('warning', (warning) => silent.push(warning));
  return { client, warned: silent };
}

/** Taken, waited for and handed over by a message, renewed in between. */
async function useLocks(one: Holdfast, other: Holdfast): Promise<void> {
  for (const kind of ['getLock', 'getFairLock', 'getFencedLock', 'getSimpleLock'] as const) {
    const hold = await one[kind](`orders:${kind}`).lock();
    const waiting = other[kind](`orders:${kind}`).lock();
    await hold.extend(GRACE_MS);
    expect(await hold.unlock(), kind).toBe(true);
    expect(await (await waiting).unlock(), kind).toBe(true);
  }
  const read = await one.getReadWriteLock('orders:rw').readLock().lock();
  expect(await read.unlock()).toBe(true);
}

describe('docs/operations.md', () => {
  it('asks for the same permissions as SECURITY.md', () => {
    expect(userLine).toContain('+wait');
    expect(read('SECURITY.md')).toContain(`\n${userLine}\n`);
  });

  it('names every warning', () => {
    const codes = new Set(read('src/events.ts').match(/'HOLDFAST_\w+'/g));
    expect(codes.size).toBeGreaterThan(5);
    for (const code of codes) expect(page).toContain(code.replaceAll("'", '`'));
  });
});

describeWithProcess('the user of docs/operations.md', () => {
  it('can use the guard and acknowledgements of replicas', async () => {
    const settings = [...page.matchAll(/^(min-replicas-[a-z-]+) (\d+)$/gm)];
    expect(settings.map(([, name]) => name)).toEqual(['min-replicas-to-write', 'min-replicas-max-lag']);
    const { primary } = await ownReplicas({ replicas: 1 });
    await whenAcknowledging(primary, 1);
    for (const [, name, value] of settings) await primary.command('CONFIG', 'SET', `${name}`, `${value}`);
    await primary.command('ACL', ...words(userLine));
    const target = { host: primary.host, port: primary.port, ...login };
    const one = await open(target, { ...guarded, replicas: 1 });
    const other = await open(target, { ...guarded, replicas: 'majority' });
    await useLocks(one.client, other.client);
    expect(await one.client.capabilities()).toMatchObject({
      replicas: { connected: 1, required: 1, obstacle: null, stopsAlone: true },
      guard: { on: true, graceMs: GRACE_MS, obstacle: null },
      pubSub: 'plain',
    });
    expect(await primary.command('KEYS', 'holdfast_guard*')).toEqual(['holdfast_guard']);
    expect(await one.client.health()).toMatchObject({ status: 'ok', problems: [] });
    expect([...one.warned, ...other.warned]).toEqual([]);
  });

  it('can use every feature in a Cluster', async () => {
    const cluster = await ownCluster({ replicasEach: 0 });
    for (const node of cluster.nodes) {
      await node.command('ACL', ...words(userLine));
      await node.command('ACL', ...words(clusterLine));
      // Nobody may get in as somebody else.
      await node.command('ACL', 'SETUSER', 'default', 'off');
    }
    const target = { cluster: cluster.addresses, ...login };
    const one = await open(target, guarded);
    const other = await open(target, guarded);
    await useLocks(one.client, other.client);
    expect(await one.client.capabilities()).toMatchObject({
      topology: 'cluster',
      primaries: 3,
      info: true,
      pubSub: 'sharded',
    });
    expect(await one.client.health()).toMatchObject({ status: 'ok', problems: [] });
    expect([...one.warned, ...other.warned]).toEqual([]);
  });

  it('needs its permissions: without the record of the guard no guarded lock is granted', async () => {
    const server = await ownServer();
    await server.command('ACL', ...words(userLine.replace('~holdfast_guard* ', '')));
    const { client } = await open({ host: server.host, port: server.port, ...login }, guarded);
    await expect(client.getLock('orders:1').tryLock()).rejects.toMatchObject({
      code: 'ERR_DRIVER',
      message: expect.stringMatching(/permission/i),
    });
  });
});
