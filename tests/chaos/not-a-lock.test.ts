/** A user's data under the name of a lock: whatever is called, the data stays as it is and keeps no expiry of ours. */
import { expect, it } from 'vitest';
import { DriverError, type Holdfast, type Lock } from '../../src/index.ts';
import type { RawArgument, TestServer } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { join, leftovers } from './support/arena.ts';

type Data = readonly [title: string, ...put: readonly [RawArgument, ...RawArgument[]][]];

/** `NAME` stands for the key. */
const NAME = 'NAME';
const LASTS: [RawArgument, ...RawArgument[]] = ['PEXPIRE', NAME, 600_000];

const HASHES: readonly Data[] = [
  ['several fields', ['HSET', NAME, 'name', 'Ada', 'born', '1815']],
  ['several counts', ['HSET', NAME, 'apples', '3', 'pears', '4'], LASTS],
  ['a count without expiry', ['HSET', NAME, 'visits', '5']],
  ['a fraction', ['HSET', NAME, 'price', '2.5'], LASTS],
  ['a count of none', ['HSET', NAME, 'stock', '0'], LASTS],
  ['a word', ['HSET', NAME, 'name', 'Ada'], LASTS],
  ['a read/write lock', ['HSET', NAME, 'mode', 'read', 'c:1', '1'], LASTS],
];
const TWO_SIDED: readonly Data[] = [
  ['a mode of something else', ['HSET', NAME, 'mode', 'dark', 'size', '3'], LASTS],
  ['a mode and words', ['HSET', NAME, 'mode', 'read', 'title', 'a page']],
  ['a mode and counts without expiry', ['HSET', NAME, 'mode', 'read', 'pages', '3']],
  ['a mode alone', ['HSET', NAME, 'mode', 'write'], LASTS],
  ['no mode', ['HSET', NAME, 'c:1', '1'], LASTS],
];
const STRINGS: readonly Data[] = [
  ['a text without expiry', ['SET', NAME, 'a page of text']],
  ['a number without expiry', ['SET', NAME, '5']],
];

interface Kind {
  readonly title: string;
  readonly data: readonly Data[];
  get(client: Holdfast, name: string): Lock;
}

const KINDS: readonly Kind[] = [
  { title: 'getLock', data: HASHES, get: (client, name) => client.getLock(name) },
  { title: 'getNonReentrantLock', data: HASHES, get: (client, name) => client.getNonReentrantLock(name) },
  { title: 'getSpinLock', data: HASHES, get: (client, name) => client.getSpinLock(name) },
  { title: 'getFencedLock', data: HASHES, get: (client, name) => client.getFencedLock(name) },
  { title: 'getFairLock', data: HASHES, get: (client, name) => client.getFairLock(name) },
  { title: 'getSimpleLock', data: STRINGS, get: (client, name) => client.getSimpleLock(name) },
  { title: 'readLock', data: TWO_SIDED, get: (client, name) => client.getReadWriteLock(name).readLock() },
  { title: 'writeLock', data: TWO_SIDED, get: (client, name) => client.getReadWriteLock(name).writeLock() },
];

async function plant(server: TestServer, [, ...commands]: Data): Promise<string> {
  const name = randomName();
  for (const command of commands) {
    const [verb, ...rest] = command.map((argument) => (argument === NAME ? name : argument));
    await server.command(verb as RawArgument, ...rest);
  }
  return name;
}

/** Everything that the server has, with the moment at which each key expires. */
async function everything(server: TestServer): Promise<unknown> {
  const keys = [...(await leftovers(server)).keys()].sort();
  return Promise.all(
    keys.map(async (key) => [
      key,
      await server.command('DUMP', key),
      await server.command('PEXPIRETIME', key),
    ]),
  );
}

const settled = (call: Promise<unknown>) =>
  call.then(
    (value) => value,
    (error: unknown) => error,
  );

describeWithProcess('data that is not a lock', () => {
  it.each(KINDS)('is not changed by forceUnlock and tryLock of $title', async ({ data, get }) => {
    const server = await ownServer();
    const client = await join('Holdfast.connect', server);
    for (const stranger of data) {
      const name = await plant(server, stranger);
      const before = await everything(server);
      const forced = await settled(get(client, name).forceUnlock());
      expect(forced, stranger[0]).toBeInstanceOf(DriverError);
      expect((forced as Error).message).toContain('not a lock; holdfast did not change it');
      const taken = await settled(get(client, name).tryLock());
      expect(taken === null || taken instanceof DriverError, stranger[0]).toBe(true);
      expect(await everything(server), stranger[0]).toEqual(before);
    }
  });

  it('is not changed by a theft', async () => {
    const server = await ownServer();
    const client = await join('Holdfast.connect', server);
    for (const stranger of TWO_SIDED) {
      const name = await plant(server, stranger);
      const before = await everything(server);
      const theft = await settled(client.locks.request(name, { steal: true }, () => 'stolen'));
      expect(theft, stranger[0]).toBeInstanceOf(DriverError);
      expect((theft as Error).message).toContain('not a lock; holdfast did not change it');
      expect(await everything(server), stranger[0]).toEqual(before);
    }
  });
});
