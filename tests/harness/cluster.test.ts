/** The Cluster of the harness: keys are where it says, and it moves and fails over what it is told to. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../../src/testing/index.ts';
import { type FailoverKind, startCluster, type TestCluster } from './cluster.ts';
import { randomName } from './names.ts';
import { describeWithProcess, openRaw, sharedCluster } from './servers.ts';
import { slotOf } from './slot.ts';
import { ownCluster } from './topologies.ts';

/** A name whose keys are all in one slot. */
const randomTag = () => `{${randomName('tag')}}`;

/** What a node says that has to send its client elsewhere. */
const sentTo = (word: 'MOVED' | 'ASK', key: string, node: TestServer) =>
  `${word} ${slotOf(key)} ${node.host}:${node.port}`;

async function expectAllSendTo(cluster: TestCluster, primary: TestServer, key: string): Promise<void> {
  for (const node of cluster.nodes.filter((one) => one !== primary)) {
    await expect(node.command('GET', key)).rejects.toThrow(sentTo('MOVED', key, primary));
  }
}

describeWithProcess('a cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());

  async function someOtherPrimary(slot: number): Promise<TestServer> {
    const from = await cluster.primaryOf(slot);
    const others = await Promise.all([0, 6_000, 16_383].map((one) => cluster.primaryOf(one)));
    return others.find((node) => node !== from) as TestServer;
  }

  it('hashes keys as its servers do', async () => {
    const [node] = cluster.nodes;
    const keys = ['', 'a', 'größe', '{a}b', 'x{a}', '{}a', '{{a}}', 'a{b', 'a}b{c}', 'a{}{b}', randomName()];
    for (const key of keys) {
      expect([key, cluster.slotOf(key)]).toEqual([key, await node?.command('CLUSTER', 'KEYSLOT', key)]);
    }
  });

  it('has every key on one primary and on its replica', async () => {
    const owners = new Set<TestServer>();
    for (const slot of [0, 6_000, 16_383]) owners.add(await cluster.primaryOf(slot));
    expect(owners.size).toBe(3);
    const key = randomName();
    const primary = await cluster.primaryOf(key);
    await primary.command('SET', key, 'value');
    await expectAllSendTo(cluster, primary, key);
    const replicas = await cluster.replicasOf(primary);
    expect(replicas).toHaveLength(1);
    expect(await primary.command('WAIT', 1, 5_000)).toBe(1);
    expect(await replicas[0]?.command('CLUSTER', 'COUNTKEYSINSLOT', slotOf(key))).toBe(1);
    expect(cluster.addresses).toHaveLength(6);
    expect(cluster.addresses).toContainEqual({ host: primary.host, port: primary.port });
  });

  it.each<FailoverKind>(['graceful', 'force', 'takeover'])('fails over: %s', async (kind) => {
    const key = randomName();
    const old = await cluster.primaryOf(key);
    const [replica] = await cluster.replicasOf(old);
    await old.command('SET', key, 'value');
    expect(await old.command('WAIT', 1, 5_000)).toBe(1);
    const primary = await cluster.failover(key, kind);
    expect(primary).toBe(replica);
    expect(await cluster.primaryOf(key)).toBe(primary);
    expect(await primary.command('GET', key)).toBe('value');
    await expectAllSendTo(cluster, primary, key);
    expect(await cluster.replicasOf(primary)).toEqual([old]);
    await primary.command('SET', key, 'later');
    expect(await primary.command('WAIT', 1, 5_000)).toBe(1);
  });

  it('moves a slot with all its keys', async () => {
    const tag = randomTag();
    const from = await cluster.primaryOf(tag);
    const to = await someOtherPrimary(slotOf(tag));
    const values = Array.from({ length: 250 }, (_, index) => [`${tag}:${index}`, `value ${index}`]);
    await from.command('MSET', ...values.flat());
    await cluster.moveSlot(slotOf(tag), to);
    expect(await cluster.primaryOf(tag)).toBe(to);
    await expectAllSendTo(cluster, to, tag);
    const keys = values.map(([key]) => key as string);
    expect(await to.command('MGET', ...keys)).toEqual(values.map(([, value]) => value));
  });

  it('leaves a slot half-way for as long as the test needs', async () => {
    const [gone, here] = [randomTag()].flatMap((tag) => [`${tag}:gone`, `${tag}:here`]) as [string, string];
    const from = await cluster.primaryOf(gone);
    const to = await someOtherPrimary(slotOf(gone));
    await from.command('MSET', gone, 'one', here, 'two');
    const move = await cluster.beginMove(slotOf(gone), to);
    await move.migrate(gone);
    await expect(from.command('GET', gone)).rejects.toThrow(sentTo('ASK', gone, to));
    expect(await from.command('GET', here)).toBe('two');
    await expect(from.command('MGET', gone, here)).rejects.toThrow('TRYAGAIN');
    await expect(to.command('GET', gone)).rejects.toThrow(sentTo('MOVED', gone, from));
    await to.command('ASKING');
    expect(await to.command('GET', gone)).toBe('one');
    await move.finish();
    expect(await to.command('MGET', gone, here)).toEqual(['one', 'two']);
    await expectAllSendTo(cluster, to, gone);
  });
});

describeWithProcess('a private cluster', () => {
  it('replaces a primary that dies, and takes it back as a replica', async () => {
    const cluster = await ownCluster({ nodeTimeoutMs: 1_000 });
    const key = randomName();
    const old = await cluster.primaryOf(key);
    await old.command('SET', key, 'value');
    expect(await old.command('WAIT', 1, 5_000)).toBe(1);
    await old.kill();
    const primary = await cluster.whenFailedOver(key, old);
    expect(await primary.command('GET', key)).toBe('value');
    await old.restart();
    await cluster.whenSettled();
    expect(await cluster.replicasOf(primary)).toEqual([old]);
    await expect(old.command('GET', key)).rejects.toThrow(sentTo('MOVED', key, primary));
  });

  it('does not ask a node that is frozen', async () => {
    const cluster = await ownCluster({ nodeTimeoutMs: 1_000, args: ['--maxmemory', '50mb'] });
    expect(await cluster.nodes[5]?.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '52428800']);
    const key = randomName();
    const old = await cluster.primaryOf(key);
    await old.pause();
    const primary = await cluster.whenFailedOver(key, old);
    expect(primary).not.toBe(old);
    expect(await primary.command('SET', key, 'value')).toBe('OK');
  });
});

describeWithProcess('the shared cluster', () => {
  it('is the same for all tests, and works', async () => {
    const { addresses } = await sharedCluster();
    expect(addresses).toHaveLength(3);
    expect(await sharedCluster()).toEqual({ addresses });
    const key = randomName();
    const answers: unknown[] = [];
    for (const { host, port } of addresses) {
      const connection = await openRaw(host, port);
      answers.push(await connection.command('SET', key, 'value').catch((error: Error) => error.message));
    }
    const elsewhere = addresses[answers.indexOf('OK')];
    const moved = `MOVED ${slotOf(key)} ${elsewhere?.host}:${elsewhere?.port}`;
    expect(answers.sort()).toEqual([moved, moved, 'OK']);
  });
});
