/** A storm over one lock of two JVMs and four Node processes, eight at a time in each, and what it must leave. */
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { tokenKey } from '../../../src/keys.ts';
import type { RawReply } from '../../../src/testing/index.ts';
import { spawnChild } from '../../harness/child.ts';
import type { TestChild } from '../../harness/child-process.ts';
import { eventually } from '../../harness/wait.ts';
import type { Interop } from './context.ts';
import { JavaLock } from './java-objects.ts';
import type { JavaPeer } from './java-peer.ts';
import { keysOf } from './moments.ts';
import { type StormSettings, tracesOf } from './storm.ts';

const NODE_PROCESSES = 4;
const AT_A_TIME = 8;

/** Whoever is inside or in line when the time is over still finishes. */
const CALM_WITHIN_MS = 60_000;

/** For a test around a storm: everybody starts, storms, and finishes. */
export const STORM_TESTED_WITHIN_MS = 180_000;

/** Tests that run beside this one come first. */
const NICENESS = 10;

/**
 * How often every process must have been inside. Eight come by themselves: whoever is in line when the time is over
 * still gets in. A few more show that it got in while the others fought for it; there are dozens, and of these enough
 * are left on a machine that is ten times slower.
 */
const LEAST_ENTRIES = 10;

/**
 * With so many in line, whoever holds a fair lock sees who comes next, but for the first and the last. If one language
 * looked in vain, about two thirds or one third would be left.
 */
const FOLLOWED_SHARE = 0.9;

/**
 * Of the turns, a JVM has at least this share of an equal one, although Node processes pass the lock on. A Node process
 * has more holds a turn; it stands back after each, and a JVM does not: on a busy machine most turns are the JVMs'.
 */
const JVM_TURNS_SHARE = 1 / 4;
const NODE_TURNS_SHARE = 1 / 12;

/** With eight tasks in line, a tenure that is passed on is more than one hold, on a slow machine too. */
const LEAST_HOLDS_A_TURN = 1.5;

const SCRIPT = fileURLToPath(new URL('../children/storms.ts', import.meta.url));

/** How often a process was inside, and in how many tenures: what is passed on is one. */
interface Visits {
  readonly entries: number;
  readonly turns: number;
}

interface Aftermath {
  readonly visits: Readonly<Record<string, Visits>>;
  readonly counted: number;
  /** How often it was known who had to be the next at a fair lock, and it was. */
  readonly followed: number;
  readonly tokens: number[];
  readonly overtaken: string[];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Told when the storm of a process is over. */
async function visitsOf(child: TestChild, runMs: number): Promise<Visits> {
  const isOver = () => child.messages.some(({ entries, error }) => entries ?? error);
  await eventually(isOver, { withinMs: runMs + CALM_WITHIN_MS, everyMs: 100 });
  const { entries, turns, error } = await child.next();
  expect(error, child.stderr).toBeUndefined();
  return { entries: sum(entries as number[]), turns: Number(turns) };
}

async function storm(interop: Interop, task: StormSettings): Promise<Aftermath> {
  const { kind, names, runMs } = task;
  const tasks = Array.from({ length: AT_A_TIME }, () => task);
  const args = [interop.place.nodeTarget, tasks].map((each) => JSON.stringify(each));
  const children = Array.from({ length: NODE_PROCESSES }, () => spawnChild(SCRIPT, { args }));
  const jvms = await Promise.all([interop.startJava(), interop.startJava()]);
  for (const child of children) await child.next(({ ready }) => ready === true);
  // Not earlier: starting up has a limit.
  for (const { pid } of [...children, ...jvms]) setPriority(pid, NICENESS);

  for (const child of children) child.send({ order: 'storm' });
  const threadsOf = (jvm: JavaPeer) => tasks.map(() => new JavaLock(jvm, kind, names));
  const visits = await Promise.all([
    ...jvms.map(async (jvm, index) => {
      const entries = sum(await Promise.all(threadsOf(jvm).map((lock) => lock.storm(runMs))));
      return [`JVM ${index + 1}`, { entries, turns: entries }] as const;
    }),
    ...children.map(async (child, index) => [`Node ${index + 1}`, await visitsOf(child, runMs)] as const),
  ]);

  const { command } = interop.place;
  const [name] = names;
  const traces = tracesOf(name);
  const list = async (key: string) => ((await command(key, 'LRANGE', key, 0, -1)) as RawReply[]).map(String);
  const number = async (key: string) => Number(await command(key, 'GET', key));
  const kept = [...Object.values(traces), tokenKey(name)];
  expect((await keysOf(interop, name)).filter((key) => !kept.includes(key))).toEqual([]);
  return {
    visits: Object.fromEntries(visits),
    counted: await number(traces.counter),
    followed: await number(traces.followed),
    tokens: (await list(traces.tokens)).map(Number),
    overtaken: await list(traces.overtaken),
  };
}

/** Storms, and demands that nobody was inside with another, came in out of turn, or was left outside. */
export async function expectOrderInStorm(
  interop: Interop,
  title: string,
  settings: StormSettings,
): Promise<void> {
  const { visits, counted, followed, tokens, overtaken } = await storm(interop, settings);
  const entries = Object.values(visits).map((each) => each.entries);
  const turns = Object.values(visits).map((each) => each.turns);
  const all = sum(entries);
  console.log(`${title}: ${entries.join(' + ')} = ${all}, turns ${turns.join(' + ')} = ${sum(turns)}`);
  expect(counted).toBe(all);
  expect(overtaken).toEqual([]);
  const isFair = settings.kind === 'fair' || settings.kind === 'nonReentrantFair';
  if (isFair) expect(followed).toBeGreaterThan(FOLLOWED_SHARE * counted);
  for (const [who, each] of Object.entries(visits)) {
    expect(each.entries, `${who} got in`).toBeGreaterThanOrEqual(LEAST_ENTRIES);
    if (!settings.isPassedOn) continue;
    const isNode = who.startsWith('Node');
    const share = ((isNode ? NODE_TURNS_SHARE : JVM_TURNS_SHARE) * sum(turns)) / turns.length;
    expect(each.turns, `${who} had its turns`).toBeGreaterThan(share);
    const leastEntries = isNode ? LEAST_HOLDS_A_TURN * each.turns : each.turns;
    expect(each.entries, `${who} passed the lock on`).toBeGreaterThanOrEqual(leastEntries);
  }
  expect(tokens).toHaveLength(settings.kind === 'fenced' ? counted : 0);
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
}
