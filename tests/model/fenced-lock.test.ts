/**
 * The fenced lock against a plain model of it: whatever owners of two clients and a Redisson client do, and
 * whatever becomes of the last token, every new hold has a higher one and every re-entry the same.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FencedHold, FencedLock, Holdfast, Owner } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { runs } from './support/runs.ts';
import { stepsWith, twoClients } from './support/steps.ts';

const OURS = ['a1', 'a2', 'b1', 'b2'];
const JAVA = 'java';
const LEASE_MS = 60_000;

const clientOf = (who: string) => (who.startsWith('a') ? 0 : 1);

/** What one of our owners has: handles it has not given back yet, of a hold that may be gone. */
interface Stay {
  readonly token: number;
  entries: number;
  lost: boolean;
}

interface Model {
  /** Who holds it by the server's word. */
  holder: string | null;
  readonly stays: Map<string, Stay>;
  javaEntries: number;
  /** The highest token that anybody was given. */
  highest: number;
  /** What the server still has of it; null once that was deleted. */
  stored: number | null;
}

interface Real {
  readonly raw: RawConnection;
  readonly name: string;
  readonly tokenKey: string;
  readonly locks: readonly FencedLock[];
  readonly owners: ReadonlyMap<string, Owner>;
  readonly holds: Map<string, FencedHold[]>;
}

const lockOf = (real: Real, who: string) => real.locks[clientOf(who)] as FencedLock;

async function check(model: Model, real: Real): Promise<void> {
  const { raw, name, tokenKey, locks, holds } = real;
  const entries =
    model.holder === JAVA ? model.javaEntries : (model.stays.get(model.holder ?? '')?.entries ?? 0);
  const owner = model.holder === JAVA ? JAVA : holds.get(model.holder ?? '')?.at(0)?.owner;
  const fields = (await raw.command('HGETALL', name)) as string[];
  expect(fields).toEqual(model.holder === null ? [] : [owner, String(entries)]);
  if (model.holder !== null) expect(await raw.command('PTTL', name)).toBeGreaterThan(LEASE_MS / 2);
  const stored = model.stored === null ? null : String(model.stored);
  expect(await raw.command('GET', tokenKey)).toBe(stored);
  for (const lock of locks) expect(await lock.getToken()).toBe(model.stored ?? 0);
  for (const [who, { token }] of model.stays) {
    for (const hold of holds.get(who) ?? []) expect(hold.token).toBe(token);
  }
}

type Step = fc.AsyncCommand<Model, Real, false>;

const step = stepsWith(check);

/** The hold on the server has ended without its owner's doing. */
function lose(model: Model): void {
  const stay = model.stays.get(model.holder ?? '');
  if (stay !== undefined) stay.lost = true;
  if (model.holder === JAVA) model.javaEntries = 0;
  model.holder = null;
}

/** Takes the lock, or enters it again. */
function taking(who: string): Step {
  return step(`${who} takes it`, async (model, real) => {
    const taken = lockOf(real, who).tryLock({ owner: real.owners.get(who), leaseMs: LEASE_MS });
    const stay = model.stays.get(who);
    if (stay?.lost) {
      await expect(taken).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' });
      return;
    }
    const hold = await taken;
    if (stay === undefined && model.holder !== null) {
      expect(hold).toBe(null);
      return;
    }
    if (hold === null) throw new Error('it was free, or held by the caller');
    if (stay === undefined) {
      expect(hold.token).toBeGreaterThan(model.highest);
      model.stays.set(who, { token: hold.token, entries: 1, lost: false });
      model.holder = who;
      model.highest = hold.token;
      model.stored = hold.token;
      real.holds.set(who, [hold]);
    } else {
      expect(hold.token).toBe(stay.token);
      stay.entries += 1;
      real.holds.get(who)?.push(hold);
    }
  });
}

function leaving(who: string): Step {
  const leave = async (model: Model, real: Real) => {
    const stay = model.stays.get(who) as Stay;
    const hold = real.holds.get(who)?.pop() as FencedHold;
    expect(await hold.unlock()).toBe(!stay.lost);
    stay.entries -= 1;
    if (stay.entries > 0) return;
    model.stays.delete(who);
    if (!stay.lost) model.holder = null;
  };
  return step(`${who} leaves`, leave, (model) => model.stays.has(who));
}

function forcing(who: string): Step {
  return step(`${who} forces it open`, async (model, real) => {
    expect(await lockOf(real, who).forceUnlock()).toBe(model.holder !== null);
    lose(model);
  });
}

const expiring = step('the lease runs out', async (model, { raw, name }) => {
  await raw.command('DEL', name);
  lose(model);
});

const losingTheToken = step('the server loses the token', async (model, { raw, tokenKey }) => {
  await raw.command('DEL', tokenKey);
  model.stored = null;
});

/** A last token that is ahead of the clock, as after the clock was set back. */
const runningAhead = step(
  'the token runs ahead of the clock',
  async (model, { raw, tokenKey }) => {
    await raw.command('SET', tokenKey, model.highest + 1_000_000);
    model.highest += 1_000_000;
    model.stored = model.highest;
  },
  // Should it be lost as well, nothing could make up for it.
  (model) => model.stored !== null,
);

/** Redisson counts at every acquisition, re-entries included; its counter starts at 1 when it was lost. */
const javaTaking = step('Redisson takes it', async (model, { raw, name, tokenKey }) => {
  if (model.holder !== null && model.holder !== JAVA) return;
  const counted = Number(await raw.command('INCR', tokenKey));
  await raw.command('HINCRBY', name, JAVA, 1);
  await raw.command('PEXPIRE', name, LEASE_MS);
  expect(counted).toBe((model.stored ?? 0) + 1);
  model.stored = counted;
  model.highest = Math.max(model.highest, counted);
  model.holder = JAVA;
  model.javaEntries += 1;
});

const javaLeaving = step(
  'Redisson leaves',
  async (model, { raw, name }) => {
    model.javaEntries -= 1;
    if (model.javaEntries > 0) await raw.command('HINCRBY', name, JAVA, -1);
    else await raw.command('DEL', name);
    if (model.javaEntries === 0) model.holder = null;
  },
  (model) => model.holder === JAVA,
);

const anOwner = fc.constantFrom(...OURS);

/** @param losses what may become of the last token: the clock makes up for one of them at a time */
function commandsWith(losses: Step) {
  return fc.commands<Model, Real, false>(
    [
      anOwner.map(taking),
      anOwner.map(taking),
      anOwner.map(taking),
      anOwner.map(leaving),
      anOwner.map(leaving),
      anOwner.map(forcing),
      fc.constant(expiring),
      fc.constant(losses),
      fc.constant(javaTaking),
      fc.constant(javaLeaving),
    ],
    { maxCommands: 40, size: 'max' },
  );
}

describe('the fenced lock and its model', () => {
  it.each([
    { title: 'the last token is lost now and then', losses: losingTheToken },
    { title: 'the last token is ahead of the clock', losses: runningAhead },
  ])('agree after every step of any sequence, though $title', { timeout: 60_000 }, async ({ losses }) => {
    const raw = await openShared();
    const clients = await twoClients();
    const names: string[] = [];
    const setup = (): { model: Model; real: Real } => {
      const name = randomName();
      const tokenKey = `redisson_lock_token:{${name}}`;
      names.push(name, tokenKey);
      const owners = new Map(OURS.map((who) => [who, (clients[clientOf(who)] as Holdfast).owner()]));
      const locks = clients.map((client) => client.getFencedLock(name));
      return {
        model: { holder: null, stays: new Map(), javaEntries: 0, highest: 0, stored: null },
        real: { raw, name, tokenKey, locks, owners, holds: new Map() },
      };
    };
    await fc.assert(
      fc.asyncProperty(commandsWith(losses), (commands) => fc.asyncModelRun(setup, commands)),
      { numRuns: runs(50) },
    );
    await raw.command('DEL', ...(names as [string, ...string[]]));
  });
});
