/**
 * Fencing under faults: tokens rise whatever the server loses and whatever its clock does, and the late write of a
 * holder that stalled is refused by every fence.
 */
import { readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join as pathOf } from 'node:path';
import { fileURLToPath } from 'node:url';
import initSqlJs from 'sql.js';
import { describe, expect, it, vi } from 'vitest';
import { type Holdfast, MemoryFence, StaleTokenError, sqlFence } from '../../src/index.ts';
import { fencedLockAcquire, fencedRegisterWrite } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, arena, join } from './support/arena.ts';
import { CAN_SHIFT, NEEDS_GCC, shiftableServer } from './support/clock-shift.ts';
import { EACH_WAY } from './support/each-way.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { patchedClient } from './support/patched-client.ts';
import { runs } from './support/requests.ts';
import { writesTo } from './support/writes.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const tokenKeyOf = (name: string) => `redisson_lock_token:{${name}}`;

/** The token of a hold that is taken and given back. */
function visit(client: Holdfast, name: string): Promise<number> {
  return client.getFencedLock(name).withLock(({ token }) => token);
}

/** How often the server has run a command, by itself or inside a script. */
async function callsOf(server: TestServer, command: string): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}

async function serverMicros(server: TestServer): Promise<number> {
  const [seconds, micros] = (await server.command('TIME')) as [string, string];
  return Number(seconds) * 1_000_000 + Number(micros);
}

describeWithProcess('reply lost after execution', () => {
  describe.each(EACH_WAY)('with %s', (way) => {
    it('of an acquire: the hold has the one token', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const before = await visit(await join('Holdfast.connect', server), name);
      const client = await join(way, proxy);
      const writes = await writesTo(server);
      const swallowed = proxy.swallowReply(runs(fencedLockAcquire));
      const hold = await client.getFencedLock(name).lock();
      await swallowed;
      // A token is given with a SET, and there was one though the script ran twice.
      const tokensGiven = (await writes.until('marker')).filter((key) => key === tokenKeyOf(name));
      expect(tokensGiven).toHaveLength(1);
      expect(await server.command('GET', tokenKeyOf(name))).toBe(String(hold.token));
      expect(hold.token).toBeGreaterThan(before);
      expect(await server.command('HGETALL', name)).toEqual([hold.owner, '1']);
      expect(await hold.unlock()).toBe(true);
    });

    it('of a write into a register: the value is written once, and the next write follows', async () => {
      const { server, proxy } = await arena();
      const name = randomName();
      const register = (await join(way, proxy)).getFencedRegister(name);
      const swallowed = proxy.swallowReply(runs(fencedRegisterWrite));
      await register.write('first', 7);
      await swallowed;
      expect(await register.read()).toEqual({ value: 'first', token: 7 });
      await register.write('second', 7);
      expect(await register.read()).toEqual({ value: 'second', token: 7 });
      // Two writes: each set the fields once, and the token was shown once.
      expect(await callsOf(server, 'hset')).toBe(3);
    });
  });
});

/** The file that a server appends to, wherever its version keeps it. */
function appendFile({ dir }: TestServer): string {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const found = names.find((name) => name.endsWith('.incr.aof') || name.endsWith('appendonly.aof'));
  if (found === undefined) throw new Error(`no append-only file among ${names}`);
  return pathOf(dir, found);
}

interface Loss {
  readonly title: string;
  readonly args?: readonly string[];
  /** Called in the middle; answers how to lose what comes after that. */
  readonly prepare: (server: TestServer) => Promise<() => Promise<unknown>>;
}

const LOSSES: readonly Loss[] = [
  { title: 'FLUSHALL', prepare: async (server) => () => server.command('FLUSHALL') },
  { title: 'kill -9 without persistence', prepare: async (server) => () => server.restart() },
  {
    title: 'kill -9 and an older RDB',
    prepare: async (server) => {
      await server.command('SAVE');
      return () => server.restart();
    },
  },
  {
    title: 'kill -9 and an AOF without its tail',
    args: ['--appendonly', 'yes', '--appendfsync', 'always'],
    prepare: async (server) => {
      const file = appendFile(server);
      const { size } = statSync(file);
      return async () => {
        await server.kill();
        truncateSync(file, size);
        await server.restart();
      };
    },
  },
];

describeWithProcess('the server loses data', () => {
  it.each(LOSSES)(
    '$title between holds: tokens rise where a plain counter falls',
    async ({ args, prepare }) => {
      const { server } = await arena(args === undefined ? {} : { args });
      const name = randomName();
      const counting = await patchedClient(server, fencedLockAcquire, [
        'math.max(last + 1, micros)',
        'last + 1',
      ]);
      const ours = await join('Holdfast.connect', server);
      const tokens: number[] = [];
      const counted: number[] = [];
      const visits = async (client: Holdfast, counter: Holdfast) => {
        for (let i = 0; i < 3; i += 1) {
          tokens.push(await visit(client, name));
          counted.push(await visit(counter, 'counted'));
          await server.command('INCR', 'counter');
        }
      };
      await visits(ours, counting);
      const lose = await prepare(server);
      await visits(ours, counting);
      const stored = [tokens.at(-1), counted.at(-1), await server.command('GET', 'counter')];
      await lose();
      const counter = Number(await server.command('INCR', 'counter'));
      expect(counter).toBeLessThan(Number(stored[2]));
      const again = await join('Holdfast.connect', server);
      expect(await again.getFencedLock(name).getToken()).toBeLessThan(Number(stored[0]));
      tokens.push(await visit(again, name));
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
      // What counts from the last token, as Redisson does, gives tokens a second time.
      await eventually(async () => counted.push(await visit(counting, 'counted')));
      expect(counted.at(-1)).toBeLessThanOrEqual(Number(stored[1]));
    },
  );

  it('FLUSHALL during a hold: the next holder has a higher token, and the first holder cannot write', async () => {
    const { server } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', server, { watchdogMs: 1_500 });
    const hold = await client.getFencedLock(name).lock();
    const guard = new MemoryFence();
    guard.admit(name, hold.token);
    const told = aborted(hold.signal);
    await server.command('FLUSHALL');
    const theirs = await (await join('Holdfast.connect', server)).getFencedLock(name).lock();
    expect(theirs.token).toBeGreaterThan(hold.token);
    guard.admit(name, theirs.token);
    expect(() => guard.admit(name, hold.token)).toThrow(StaleTokenError);
    expect((await told).value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
    expect(await hold.unlock()).toBe(false);
    expect(await server.command('HGETALL', name)).toEqual([theirs.owner, '1']);
  });
});

describeWithProcess('the wall clock of the server', () => {
  describe.skipIf(!CAN_SHIFT)(`moved by a shim${NEEDS_GCC}`, () => {
    it('−100 s: tokens rise by counting where the clock alone would make them fall', async () => {
      const { server, shift } = await shiftableServer();
      const name = randomName();
      const client = await join('Holdfast.connect', server);
      const clockOnly = await patchedClient(server, fencedLockAcquire, [
        'math.max(last + 1, micros)',
        'micros',
      ]);
      const before = await visit(client, name);
      const fallsFrom = await visit(clockOnly, 'clock-only');
      await shift(-100_000);
      expect(await serverMicros(server)).toBeLessThan(before - 90_000_000);
      expect(await visit(client, name)).toBe(before + 1);
      expect(await visit(client, name)).toBe(before + 2);
      expect(await visit(clockOnly, 'clock-only')).toBeLessThan(fallsFrom);
      await shift(0);
      expect(await visit(client, name)).toBeGreaterThan(before + 2);
    });

    it('+40 s and back: tokens continue from the highest token', async () => {
      const { server, shift } = await shiftableServer();
      const name = randomName();
      const client = await join('Holdfast.connect', server);
      const before = await visit(client, name);
      await shift(40_000);
      const ahead = await visit(client, name);
      expect(ahead).toBeGreaterThan(before + 30_000_000);
      await shift(0);
      expect(await visit(client, name)).toBe(ahead + 1);
    });

    it('a token that expired after its retention: the next token is higher', async () => {
      const { server, shift } = await shiftableServer();
      const name = randomName();
      const lock = (await join('Holdfast.connect', server)).getFencedLock(name, { tokenRetentionMs: 60_000 });
      const visit = () => lock.withLock(({ token }) => token);
      const before = await visit();
      await shift(61_000);
      expect(await server.command('EXISTS', tokenKeyOf(name))).toBe(0);
      const ahead = await visit();
      expect(ahead).toBeGreaterThan(before);
      // Back by 61 s, the token is ahead of the clock, and is kept until the clock has passed it.
      await shift(0);
      expect(await visit()).toBe(ahead + 1);
      await shift(61_000);
      expect(await lock.getToken()).toBe(ahead + 1);
      await shift(125_000);
      expect(await server.command('EXISTS', tokenKeyOf(name))).toBe(0);
      expect(await visit()).toBeGreaterThan(ahead + 1);
    });
  });
});

/** Numbers that the test's process owns, one behind each guard and one behind none. */
async function ownNumbers() {
  const { Database } = await initSqlJs();
  const db = new Database();
  db.run('CREATE TABLE number (id INTEGER PRIMARY KEY, value INTEGER, fence_token INTEGER)');
  db.run('INSERT INTO number VALUES (1, 0, NULL)');
  const sql = sqlFence(':token');
  const guard = new MemoryFence();
  let [inMemory, unguarded] = [0, 0];
  const inTable = () => Number(db.exec('SELECT value FROM number')[0]?.values[0]?.[0]);
  return {
    /** What the holder of a token finds, which refuses older ones from then on. */
    read(token: number) {
      guard.admit('number', token);
      db.run(`UPDATE number SET ${sql.set} WHERE id = 1 AND ${sql.where}`, { ':token': token });
      expect(db.getRowsModified()).toBe(1);
      return { memory: inMemory, table: inTable(), unguarded };
    },
    /** Writes one more than was read; answers which of the numbers let it. */
    add(read: { memory: number; table: number; unguarded: number }, token: number): string[] {
      const took = ['unguarded'];
      unguarded = read.unguarded + 1;
      try {
        guard.admit('number', token);
        inMemory = read.memory + 1;
        took.push('memory');
      } catch (error) {
        expect(error).toBeInstanceOf(StaleTokenError);
      }
      const bound = { ':value': read.table + 1, ':token': token };
      db.run(`UPDATE number SET value = :value, ${sql.set} WHERE id = 1 AND ${sql.where}`, bound);
      if (db.getRowsModified() === 1) took.push('table');
      return took.sort();
    },
    values: () => ({ memory: inMemory, table: inTable(), unguarded }),
  };
}

function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

describeWithProcess('a holder that is stopped past its lease, between reading and writing', () => {
  const script = fileURLToPath(new URL('./children/fenced-writer.ts', import.meta.url));

  it.each([
    { title: 'the next one has written', hasWritten: true },
    { title: 'the next one has only read', hasWritten: false },
  ])('$title: every fence refuses its late write, and a plain store does not', async ({ hasWritten }) => {
    const { server } = await arena();
    const name = randomName();
    const child = spawnChild(script, { args: [server.url, name, '1500'] });
    const numbers = await ownNumbers();
    const late = Number((await firstWord(child, ({ held }) => held !== undefined))['token']);
    const readByChild = numbers.read(late);

    const client = await join('Holdfast.connect', server);
    const register = client.getFencedRegister(name);
    const waiting = client.getFencedLock(name).lock();
    child.send({ order: 'write' });
    const theirs = await waiting;
    expect(isStopped(child.pid)).toBe(true);
    expect(theirs.token).toBeGreaterThan(late);
    const read = numbers.read(theirs.token);
    const inRegister = Number((await register.read(theirs.token))?.value ?? 0);
    const unguarded = Number((await server.command('GET', `unguarded:${name}`)) ?? 0);
    const write = async () => {
      expect(numbers.add(read, theirs.token)).toEqual(['memory', 'table', 'unguarded']);
      await register.write(String(inRegister + 1), theirs.token);
      await server.command('SET', `unguarded:${name}`, unguarded + 1);
    };

    if (hasWritten) await write();
    child.kill('SIGCONT');
    expect(await child.next(({ register }) => register !== undefined)).toEqual({
      register: 'ERR_STALE_TOKEN',
      isAborted: true,
      unlocked: false,
    });
    expect(numbers.add(readByChild, late)).toEqual(['unguarded']);
    if (!hasWritten) await write();

    // Everywhere one write was let through, and counted. Where nobody asked, two were, and one is lost.
    expect(numbers.values()).toEqual({ memory: 1, table: 1, unguarded: 1 });
    expect(await register.read()).toEqual({ value: '1', token: theirs.token });
    expect(await server.command('GET', `unguarded:${name}`)).toBe('1');
    theirs.assertHeld();
    expect(await theirs.unlock()).toBe(true);
  });
});
