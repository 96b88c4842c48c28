/**
 * A storm: several processes fight over one lock while connections break, replies crawl and processes stop. Nobody is
 * ever inside with another, every call settles, nothing is left behind.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { checkHistory, readHistory, type TestServer } from '../../src/testing/index.ts';
import { spawnChild } from '../harness/child.ts';
import type { TestChild } from '../harness/child-process.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import type { StormSettings } from './children/storms.ts';
import { type Arena, arena, leftovers } from './support/arena.ts';
import { firstWord, WITH_CHILDREN_MS } from './support/first-word.ts';
import { LAYOUTS, LOCK } from './support/kinds.ts';
import { WAYS, type Way } from './support/ways.ts';

vi.setConfig({ testTimeout: WITH_CHILDREN_MS });

const SCRIPT = fileURLToPath(new URL('./children/storms.ts', import.meta.url));

interface Weather {
  readonly arena: Arena;
  readonly ways: readonly Way[];
  readonly through: 'proxy' | 'server';
  readonly settings?: Partial<StormSettings>;
  /** Does one bad thing. Called again and again while the storm lasts. */
  readonly nemesis?: (children: readonly TestChild[]) => Promise<void>;
}

interface Aftermath {
  readonly violations: readonly unknown[];
  readonly entries: number;
  readonly counted: number;
  readonly strikes: number;
  readonly unhandled: string[];
}

async function storm({
  arena: { server, proxy },
  ways,
  through,
  settings,
  nemesis,
}: Weather): Promise<Aftermath> {
  const name = randomName();
  const dir = mkdtempSync(joinPath(tmpdir(), 'holdfast-storm-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [historyFile, counterFile] = [joinPath(dir, 'history'), joinPath(dir, 'counter')];
  writeFileSync(historyFile, '');
  writeFileSync(counterFile, '0');
  const { host, port } = through === 'proxy' ? proxy : server;
  const children = ways.map((way, index) => {
    const all: StormSettings = {
      proc: `p${index}`,
      way,
      place: { host, port },
      kind: LOCK.title,
      name,
      options: { watchdogMs: 10_000, commandTimeoutMs: 3_000 },
      workers: 3,
      runMs: 4_000,
      historyFile,
      counterFile,
      ...settings,
    };
    return spawnChild(SCRIPT, { args: [JSON.stringify(all)] });
  });
  await Promise.all(children.map((child) => firstWord(child, ({ ready }) => ready === true)));

  for (const child of children) child.send({ order: 'storm' });
  let isCalm = false;
  const calm = Promise.all(children.map((child) => child.next(({ calm }) => calm === true))).then(() => {
    isCalm = true;
  });
  let strikes = 0;
  for (; nemesis !== undefined && !isCalm; strikes += 1) await nemesis(children);
  await calm;
  await proxy.heal();
  for (const child of children) child.send({ order: 'close' });
  const last = await Promise.all(children.map((child) => child.next(({ closed }) => closed === true)));
  await expectNothingLeft(server, name);
  return {
    violations: checkHistory(readHistory(historyFile)).violations,
    entries: last.reduce((sum, { entries }) => sum + Number(entries), 0),
    counted: Number(readFileSync(counterFile, 'utf8')),
    strikes,
    unhandled: last.flatMap(({ unhandled }) => unhandled as string[]),
  };
}

/** No lock, no key without an expiry, no connection but the test's own. */
async function expectNothingLeft(server: TestServer, name: string): Promise<void> {
  await eventually(async () => expect(await server.command('EXISTS', name)).toBe(0), { withinMs: 12_000 });
  for (const [key, ttl] of await leftovers(server)) expect(ttl, `${key} has no expiry`).not.toBe(-1);
  await eventually(async () => expect(await connectionIds(server)).toEqual([]));
}

/** Every connection of the server but the one that asks. */
async function connectionIds(server: TestServer): Promise<string[]> {
  const own = String(await server.command('CLIENT', 'ID'));
  const list = String(await server.command('CLIENT', 'LIST'));
  return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => id as string).filter((id) => id !== own);
}

function pick<T>(from: readonly T[]): T | undefined {
  return from[Math.floor(Math.random() * from.length)];
}

describeWithProcess('storms', () => {
  it.each(LAYOUTS)('CLIENT KILL at random, 20 a second: $title', async (kind) => {
    const place = await arena();
    const { server } = place;
    const outcome = await storm({
      arena: place,
      ways: WAYS,
      through: 'server',
      settings: { kind: kind.title },
      nemesis: async () => {
        const id = pick(await connectionIds(server));
        // It may have gone by itself.
        if (id !== undefined) await server.command('CLIENT', 'KILL', 'ID', id).catch(() => undefined);
        await sleep(50);
      },
    });
    expect(outcome).toMatchObject({ violations: [], unhandled: [] });
    expect(outcome.counted).toBe(outcome.entries);
    expect(outcome.strikes).toBeGreaterThan(20);
    expect(outcome.entries).toBeGreaterThan(20);
  });

  it('200 ms of delay both ways', async () => {
    const place = await arena();
    place.proxy.delay(200);
    const settings = { runMs: 3_500, options: { watchdogMs: 10_000, commandTimeoutMs: 5_000 } };
    const outcome = await storm({ arena: place, ways: WAYS, through: 'proxy', settings });
    expect(outcome).toMatchObject({ violations: [], unhandled: [] });
    expect(outcome.counted).toBe(outcome.entries);
    expect(outcome.entries).toBeGreaterThan(1);
  });

  it('one byte at a time', async () => {
    const place = await arena();
    place.proxy.fragment(1);
    const settings = { runMs: 3_000, options: { watchdogMs: 10_000, commandTimeoutMs: 5_000 } };
    const outcome = await storm({ arena: place, ways: WAYS, through: 'proxy', settings });
    expect(outcome).toMatchObject({ violations: [], unhandled: [] });
    expect(outcome.counted).toBe(outcome.entries);
    expect(outcome.entries).toBeGreaterThan(5);
  });

  it('resets, lost replies and black holes, 4 processes', async () => {
    const place = await arena();
    const { proxy } = place;
    const strikes = [
      async () => proxy.dropConnections(),
      async () => void proxy.swallowReply(/^EVALSHA/).catch(() => {}),
      async () => {
        proxy.blackhole();
        await sleep(100);
        await proxy.heal();
      },
      async () => {
        await proxy.refuse();
        await sleep(50);
        await proxy.heal();
      },
    ];
    const outcome = await storm({
      arena: place,
      ways: [...WAYS, 'default ioredis 6'],
      through: 'proxy',
      settings: { runMs: 5_000, options: { watchdogMs: 10_000, commandTimeoutMs: 3_000 } },
      nemesis: async () => {
        await pick(strikes)?.();
        await sleep(50 + Math.random() * 200);
      },
    });
    expect(outcome).toMatchObject({ violations: [], unhandled: [] });
    expect(outcome.counted).toBe(outcome.entries);
    expect(outcome.strikes).toBeGreaterThan(10);
    expect(outcome.entries).toBeGreaterThan(5);
  });

  it('processes stopped past their leases', async () => {
    const place = await arena();
    const outcome = await storm({
      arena: place,
      ways: WAYS,
      through: 'server',
      settings: { runMs: 4_000, leaseMs: 400 },
      nemesis: async (children) => {
        const victim = pick(children);
        victim?.kill('SIGSTOP');
        await sleep(600);
        victim?.kill('SIGCONT');
        await sleep(50 + Math.random() * 100);
      },
    });
    // Whoever was stopped between its last look and its write may have lost an update: that is what fencing
    // tokens are for. Who believed to hold is another matter.
    expect(outcome).toMatchObject({ violations: [], unhandled: [] });
    expect(outcome.strikes).toBeGreaterThan(3);
    expect(outcome.entries).toBeGreaterThan(20);
  });
});
