/**
 * The fair lock against a plain model of it: any sequence of joining, taking turns, leaving, releasing and
 * forcing, by two clients' owners and by Redisson's, leaves the queue, the holder and the times as the model has them.
 * Both clients have the guard, and a grace begins and ends at any time.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerKey, fairChannel, fairQueueKey, fairSeenKey, fairTimeoutKey } from '../../src/keys.ts';
import { FairProtocol } from '../../src/locks/fair-lock.ts';
import { GrantSender } from '../../src/requests/grant-sender.ts';
import { Guard } from '../../src/requests/guard.ts';
import { ReplicaCounts } from '../../src/requests/replica-counts.ts';
import type { Wire } from '../../src/requests/wire.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { heardOn, rawDriver } from '../lua/support/script-bench.ts';
import { runs } from './support/runs.ts';
import { stepsWith } from './support/steps.ts';

/** Longer than any run takes, so that nobody's time is over within one. */
const LEASE_MS = 600_000;
const WAITS = [60_000, 90_000, 120_000];
const JAVA_WAIT_MS = 75_000;
/** More than the time a run takes, far less than a wait. */
const TOLERANCE_MS = 20_000;
const GRACE_MS = 600_000;

interface Model {
  holder: string | null;
  /** The waiters in their order, with the wait each added and how long it lives by Redisson's rule. */
  queue: { owner: string; waitMs: number; diesInMs: number }[];
  ended: Set<string>;
  /** The server keeps strangers out. */
  isGrace: boolean;
  /** Whom the last step called. */
  called: string[];
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  /** Two clients that know nothing of each other but the server. */
  readonly clients: readonly FairProtocol[];
  heard(): Promise<string[]>;
}

const OWNERS = ['a:1', 'a:2', 'a:3', 'b:1', 'b:2', 'b:3'];
const JAVA = ['java:1', 'java:2'];
const EVERYBODY = [...OWNERS, ...JAVA];

const recordOf = (name: string) => `${name}:holdfast_guard`;
const clientOf = (real: Real, owner: string) => real.clients[owner.startsWith('a:') ? 0 : 1] as FairProtocol;
const waitOf = (owner: string) => WAITS[Number(owner.slice(2)) - 1] as number;

async function check(model: Model, real: Real): Promise<void> {
  const { raw, name } = real;
  const fields = (await raw.command('HKEYS', name)) as string[];
  expect(fields).toEqual(model.holder === null ? [] : [model.holder]);
  const owners = model.queue.map(({ owner }) => owner);
  expect(await raw.command('LRANGE', fairQueueKey(name), 0, -1)).toEqual(owners);
  const times = await Promise.all(owners.map((owner) => raw.command('ZSCORE', fairTimeoutKey(name), owner)));
  expect(await raw.command('ZCARD', fairTimeoutKey(name))).toBe(owners.length);
  for (const [i, { diesInMs }] of model.queue.entries()) {
    expect(Math.abs(Number(times[i]) - Date.now() - diesInMs)).toBeLessThan(TOLERANCE_MS);
  }
  const ours = owners.filter((owner) => OWNERS.includes(owner));
  const notes = ((await raw.command('HKEYS', fairSeenKey(name))) as string[]).filter(
    (key) => key !== 'everyone',
  );
  expect(notes.sort()).toEqual(ours.sort());
  expect(await raw.command('EXISTS', fairSeenKey(name))).toBe(ours.length > 0 ? 1 : 0);
  expect(await real.heard()).toEqual(model.called.splice(0));
}

function leave(model: Model, owner: string): boolean {
  const place = model.queue.findIndex((waiter) => waiter.owner === owner);
  if (place === -1) return false;
  const [gone] = model.queue.splice(place, 1);
  for (const waiter of model.queue.slice(place)) waiter.diesInMs -= gone?.waitMs ?? 0;
  return true;
}

function join(model: Model, owner: string, waitMs: number): void {
  const lastMs = model.queue.at(-1)?.diesInMs ?? 0;
  model.queue.push({ owner, waitMs, diesInMs: Math.max(leaseLeftMs(model), lastMs) + waitMs });
}

function leaseLeftMs({ holder }: Model): number {
  return holder === null ? 0 : LEASE_MS;
}

function callHead(model: Model): void {
  const [head] = model.queue;
  if (head !== undefined) model.called.push(head.owner);
}

type Step = fc.AsyncCommand<Model, Real, false>;

const step = stepsWith(check);

/** One of ours asks, waiting or not, once or delivered twice. */
function asking(owner: string, isWaiting: boolean, deliveries: number): Step {
  return step(`${owner} asks ${deliveries} times${isWaiting ? '' : ', not waiting'}`, async (model, real) => {
    for (let delivery = 0; delivery < deliveries; delivery += 1) {
      const asked = clientOf(real, owner).acquire(owner, LEASE_MS, isWaiting ? waitOf(owner) : 0);
      if (model.holder !== owner && model.ended.has(owner)) {
        if (model.isGrace) expect(await asked).toMatchObject({ status: 'busy' });
        else expect(await asked).toEqual({ status: 'ended' });
        continue;
      }
      const [head] = model.queue;
      const isTurn = model.holder === null && (head === undefined || head.owner === owner);
      if (isTurn && !model.isGrace) {
        leave(model, owner);
        model.holder = owner;
      }
      const isHeld = model.holder === owner;
      expect(await asked).toMatchObject({ status: isHeld && !model.isGrace ? 'held' : 'busy' });
      if (isHeld || !isWaiting) continue;
      const queued = model.queue.find((waiter) => waiter.owner === owner);
      if (queued === undefined) join(model, owner, waitOf(owner));
      else queued.diesInMs = Math.max(queued.diesInMs, leaseLeftMs(model) + queued.waitMs);
    }
  });
}

/** One of ours ends what it has, or gives up, once or delivered twice. */
function ending(owner: string, deliveries: number): Step {
  return step(`${owner} ends ${deliveries} times`, async (model, real) => {
    let answer: 'released' | 'lost' = model.holder === owner ? 'released' : 'lost';
    for (let delivery = 0; delivery < deliveries; delivery += 1) {
      const wasReleased = model.ended.has(`released ${owner}`);
      if (wasReleased) answer = 'released';
      expect(await clientOf(real, owner).end(owner, 600_000)).toBe(answer);
      if (model.holder === owner) {
        model.holder = null;
        model.ended.add(`released ${owner}`);
        callHead(model);
      } else if (leave(model, owner) && model.holder === null) callHead(model);
      model.ended.add(owner);
    }
  });
}

/** Forces out whoever holds it now, or, delivered late, one that held it before; a request may be repeated. */
function forcing(request: number, before: string | null): Step {
  return step(`request ${request} forces ${before ?? 'the holder'} out`, async (model, real) => {
    const id = `request:${request}`;
    const forcer = real.clients[0] as FairProtocol;
    expect(await forcer.holders()).toEqual(model.holder === null ? [] : [model.holder]);
    const named = before ?? model.holder;
    if (named === null) return;
    await forcer.forceRelease([named], answerKey(real.name, id), 600_000);
    if (!model.ended.has(id) && model.holder === named) {
      model.holder = null;
      callHead(model);
    }
    model.ended.add(id);
  });
}

/** A grace begins as after a promotion, or ends; the guard's record says so. */
function keepingOut(isGrace: boolean): Step {
  return step(isGrace ? 'a grace begins' : 'the grace ends', async (model, { raw, name }) => {
    const id = /master_replid:(\w+)/.exec(String(await raw.command('INFO', 'replication')))?.[1];
    await raw.command(
      'SET',
      recordOf(name),
      isGrace ? `${id} ${Date.now() + GRACE_MS}` : `master_replid:${id}`,
    );
    model.isGrace = isGrace;
  });
}

/** Redisson's waiter joins, by its formula. */
function javaJoining(owner: string): Step {
  return step(`${owner} joins`, async (model, { raw, name }) => {
    if (model.holder === owner || model.queue.some((waiter) => waiter.owner === owner)) return;
    if (model.holder === null && model.queue.length === 0) {
      await raw.command('HSET', name, owner, 1);
      await raw.command('PEXPIRE', name, LEASE_MS);
      model.holder = owner;
      return;
    }
    const last = model.queue.at(-1);
    const base =
      last === undefined
        ? Date.now() + Math.max(0, Number(await raw.command('PTTL', name)))
        : Number(await raw.command('ZSCORE', fairTimeoutKey(name), last.owner));
    await raw.command('ZADD', fairTimeoutKey(name), base + JAVA_WAIT_MS, owner);
    await raw.command('RPUSH', fairQueueKey(name), owner);
    // Redisson counts on the last waiter alone, though the lease may end later.
    const diesInMs = (last?.diesInMs ?? leaseLeftMs(model)) + JAVA_WAIT_MS;
    model.queue.push({ owner, waitMs: JAVA_WAIT_MS, diesInMs });
  });
}

/** Redisson's waiter takes its turn, if it is its turn, and takes its wait off everybody behind. */
function javaTaking(owner: string): Step {
  return step(`${owner} takes its turn`, async (model, { raw, name }) => {
    if (model.holder !== null || model.queue[0]?.owner !== owner) return;
    await raw.command('LPOP', fairQueueKey(name));
    await raw.command('ZREM', fairTimeoutKey(name), owner);
    for (const waiter of (await raw.command('ZRANGE', fairTimeoutKey(name), 0, -1)) as string[]) {
      await raw.command('ZINCRBY', fairTimeoutKey(name), -JAVA_WAIT_MS, waiter);
    }
    await raw.command('HSET', name, owner, 1);
    await raw.command('PEXPIRE', name, LEASE_MS);
    model.holder = owner;
    leave(model, owner);
  });
}

function javaReleasing(owner: string): Step {
  return step(`${owner} releases`, async (model, { raw, name }) => {
    if (model.holder !== owner) return;
    await raw.command('DEL', name);
    model.holder = null;
    const [head] = model.queue;
    if (head === undefined) return;
    await raw.command('PUBLISH', fairChannel(name, head.owner), '0');
    callHead(model);
  });
}

const anOwner = fc.constantFrom(...OWNERS);
const aJava = fc.constantFrom(...JAVA);
const deliveries = fc.integer({ min: 1, max: 2 });
const steps = fc.commands<Model, Real, false>(
  [
    fc.tuple(anOwner, fc.constant(true), deliveries).map((given) => asking(...given)),
    fc.tuple(anOwner, fc.boolean(), deliveries).map((given) => asking(...given)),
    fc.tuple(anOwner, deliveries).map((given) => ending(...given)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.option(fc.constantFrom(...EVERYBODY)))
      .map((given) => forcing(...given)),
    fc.boolean().map(keepingOut),
    aJava.map(javaJoining),
    aJava.map(javaTaking),
    aJava.map(javaReleasing),
  ],
  { maxCommands: 40, size: 'max' },
);

describe('the fair lock and its model', () => {
  it('agree after every step of any sequence', { timeout: 60_000 }, async () => {
    const raw = await openShared();
    const clients = [raw, await openShared()];
    const listener = await openShared();
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const name = randomName();
        const place = {
          topology: 'standalone',
          keyPrefix: `${name}:`,
          nodeOf: () => '',
          nodes: () => [''],
        } as const;
        const clock = new ManualClock();
        const guard = new Guard({ clock, graceMs: GRACE_MS, driver: place });
        const wireOver = (connection: RawConnection): Wire => ({
          driver: rawDriver(connection),
          clock,
          replicaCounts: new ReplicaCounts({ clock, requirement: 0, expected: 0, topology: 'standalone' }),
          grantSender: new GrantSender(rawDriver(connection), undefined, guard),
          guard,
          writesOnce: true,
          isHeardByAll: true,
          publish: 'PUBLISH',
          rememberMs: 600_000,
          commandTimeoutMs: 3_000,
          fairWaitMs: 300_000,
          keyOf: (given) => given,
          announced: (taken) => expect(taken).toBe(1),
        });
        const renew = () => Promise.reject(new Error('nothing is renewed here'));
        const called: string[] = [];
        const stop = listener.onMessage(({ channel, message }) => {
          if (message === '0') called.push(channel.slice(channel.lastIndexOf('}:') + 2));
        });
        const channels = EVERYBODY.map((owner) => fairChannel(name, owner));
        await listener.subscribe(...(channels as [string, ...string[]]));
        const flush = heardOn(listener, channels[0] as string, raw);
        const real: Real = {
          raw,
          name,
          clients: clients.map((connection) => new FairProtocol(wireOver(connection), name, renew)),
          heard: async () => {
            await flush();
            return called.splice(0);
          },
        };
        const model: Model = { holder: null, queue: [], ended: new Set(), isGrace: false, called: [] };
        await keepingOut(false).run(model, real);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        stop();
        await listener.command('UNSUBSCRIBE', ...channels);
      }),
      { numRuns: runs(80) },
    );
  });
});
