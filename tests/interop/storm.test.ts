/** Two JVMs and four Node processes, eight at a time in each, fight over one lock of every kind. */
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { tokenKey } from '../../src/keys.ts';
import type { RawReply } from '../../src/testing/index.ts';
import { spawnChild, type TestChild } from '../harness/child.ts';
import { randomName } from '../harness/names.ts';
import { eventually } from '../harness/wait.ts';
import { describeInterop, type Interop } from './context.ts';
import { JavaLock, type JavaLockKind } from './java-objects.ts';
import type { JavaPeer } from './java-peer.ts';
import { keysOf } from './moments.ts';
import { type StormSettings, tracesOf } from './storm.ts';

/** How long the storm over each kind lasts. */
const STORM_MS = 20_000;
const NODE_PROCESSES = 4;
const AT_A_TIME = 8;
/** Whoever is inside or in line when the time is over still finishes. */
const CALM_WITHIN_MS = STORM_MS + 60_000;

const SCRIPT = fileURLToPath(new URL('./children/storms.ts', import.meta.url));

/** Tests that run beside this one come first. */
const NICENESS = 10;

interface Aftermath {
  /** How often each process was inside. */
  readonly entries: number[];
  readonly counted: number;
  readonly tokens: number[];
  readonly overtaken: string[];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** How often a process was inside, told when its storm is over. */
async function entriesOf(child: TestChild): Promise<number> {
  const isOver = () => child.messages.some(({ entries, error }) => entries ?? error);
  await eventually(isOver, { withinMs: CALM_WITHIN_MS, everyMs: 100 });
  const { entries, error } = await child.next();
  expect(error, child.stderr).toBeUndefined();
  return sum(entries as number[]);
}

async function storm(interop: Interop, kind: JavaLockKind): Promise<Aftermath> {
  const name = randomName('storm');
  const names = kind === 'multi' ? ([name, `${name}:second`] as const) : ([name] as const);
  const task: StormSettings = { kind, names, runMs: STORM_MS };
  const tasks = Array.from({ length: AT_A_TIME }, () => task);
  const children = Array.from({ length: NODE_PROCESSES }, () =>
    spawnChild(SCRIPT, { args: [interop.place.nodeTarget as string, JSON.stringify(tasks)] }),
  );
  const jvms = await Promise.all([interop.startJava(), interop.startJava()]);
  for (const { pid } of [...children, ...jvms]) setPriority(pid, NICENESS);
  for (const child of children) await child.next(({ ready }) => ready === true);

  for (const child of children) child.send({ order: 'storm' });
  const threadsOf = (jvm: JavaPeer) => tasks.map(() => new JavaLock(jvm, kind, names));
  const entries = await Promise.all([
    ...jvms.map(async (jvm) => sum(await Promise.all(threadsOf(jvm).map((lock) => lock.storm(STORM_MS))))),
    ...children.map(entriesOf),
  ]);

  const { command } = interop.place;
  const traces = tracesOf(name);
  const list = async (key: string) => ((await command(key, 'LRANGE', key, 0, -1)) as RawReply[]).map(String);
  const kept = [...Object.values(traces), tokenKey(name)];
  expect((await keysOf(interop, name)).filter((key) => !kept.includes(key))).toEqual([]);
  return {
    entries,
    counted: Number(await command(name, 'GET', traces.counter)),
    tokens: (await list(traces.tokens)).map(Number),
    overtaken: await list(traces.overtaken),
  };
}

describeInterop('4.7.0', [
  (interop) => {
    it.each<[string, JavaLockKind]>([
      ['getLock', 'lock'],
      ['getNonReentrantLock', 'nonReentrant'],
      ['getFairLock, served as they came', 'fair'],
      ['getNonReentrantFairLock, served as they came', 'nonReentrantFair'],
      ['getSpinLock', 'spin'],
      ['getFencedLock, with rising tokens', 'fenced'],
      ['getReadWriteLock, to read and to write', 'write'],
      ['getMultiLock of two', 'multi'],
    ])(
      'a storm over %s: no update is lost',
      async (title, kind) => {
        const { entries, counted, tokens, overtaken } = await storm(interop, kind);
        console.log(`${title}: ${entries.join(' + ')} = ${sum(entries)}`);
        expect(counted).toBe(sum(entries));
        expect(overtaken).toEqual([]);
        expect(Math.min(...entries), 'everybody got in').toBeGreaterThan(0);
        expect(tokens).toHaveLength(kind === 'fenced' ? counted : 0);
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
      },
      CALM_WITHIN_MS + 60_000,
    );
  },
]);
