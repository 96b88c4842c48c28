/**
 * What may happen to a red lock, each step against its model: taking, entering again, giving back and forcing by
 * owners of two parties, and what others do to single servers. After each, servers and holds are compared.
 */
import type fc from 'fast-check';
import { expect } from 'vitest';
import type { Hold, Holdfast, Lock, Owner } from '../../../src/index.ts';
import type { RawConnection } from '../../../src/testing/index.ts';
import { LEASE_MS } from '../../behaviour/support/red-lock-servers.ts';
import { eventually } from '../../harness/wait.ts';
import {
  type Entry,
  type Group,
  insideOf,
  isFree,
  type Place,
  type RedLockModel,
  type Stay,
} from './red-lock-model.ts';

/** What a server may take for its answer: a twentieth of the lease. */
const ANSWER_MS = LEASE_MS / 20;
/** On a busy machine a server may miss that, and has then no vote: the round is repeated, so often at most. */
const ROUNDS = 8;
/** Sooner than what nobody gave back ends by itself. */
const SETTLED_MS = LEASE_MS * 0.75;
/** Long enough that nothing ends by itself. */
const HELD_MS = 60_000;

interface Person {
  readonly party: number;
  /** The member whose client the owner comes from. */
  readonly home: number;
}

export const PEOPLE: Readonly<Record<string, Person>> = {
  '0:x': { party: 0, home: 0 },
  '0:y': { party: 0, home: 2 },
  '1:x': { party: 1, home: 0 },
  '1:y': { party: 1, home: 1 },
};

export interface Real {
  readonly name: string;
  readonly raws: readonly RawConnection[];
  /** The clients of each party, one for each server. */
  readonly parties: readonly (readonly Holdfast[])[];
  readonly owners: ReadonlyMap<string, Owner>;
  readonly holds: Map<Group, Hold>;
  readonly fields: Map<Stay, string>;
}

/** The client that an owner comes from. */
export function homeOf(parties: Real['parties'], who: string): Holdfast {
  const { party, home } = PEOPLE[who] as Person;
  const clients = parties[party] as readonly Holdfast[];
  return clients[home] as Holdfast;
}

function redLock({ parties, name }: Real, party: number): Lock {
  const clients = parties[party] as readonly Holdfast[];
  return (clients[0] as Holdfast).getRedLock(...clients.map((client) => client.getLock(name)));
}

function placesOf(real: Real, { owner }: Hold): Map<number, string> {
  const ids: string[] = real.parties.flatMap((clients) => clients.map(({ id }) => id));
  const fields = owner.split(' ').map((field): [number, string] => {
    return [ids.indexOf(field.slice(0, field.indexOf(':'))) % real.raws.length, field];
  });
  return new Map(fields.sort(([a], [b]) => a - b));
}

async function answerOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: { code: string }) => error.code);
}

function isInForce(hold: Hold): boolean {
  try {
    hold.assertHeld();
    return true;
  } catch {
    return false;
  }
}

async function compare(model: RedLockModel, { raws, name, fields, holds }: Real): Promise<void> {
  const found = await Promise.all(raws.map((raw) => raw.command('HGETALL', name)));
  const expected = model.places.map((place) => {
    if (place.foreign) return ['stranger', '1'];
    const stay = place.stays.get(insideOf(place) ?? '');
    return stay === undefined ? [] : [fields.get(stay), String(stay.entries.length)];
  });
  expect(found).toEqual(expected);
  const leasesMs = await Promise.all(raws.map((raw) => raw.command('PTTL', name)));
  const isLong = leasesMs.map((leftMs) => Number(leftMs) > HELD_MS / 2);
  expect(isLong, 'a long lease').toEqual(model.places.map((place) => !isFree(place)));
  for (const [group, hold] of holds) {
    const state = { isHeld: isInForce(hold), hasTime: hold.remainingMs > 0, isLost: hold.signal.aborted };
    const isHeld = model.isHeld(group);
    expect(state, group.who).toEqual({ isHeld, hasTime: isHeld, isLost: group.isLost });
  }
}

/** Some of it is done in the background, by servers that a majority did not wait for. */
async function check(model: RedLockModel, real: Real): Promise<void> {
  await eventually(() => compare(model, real), { withinMs: SETTLED_MS, everyMs: 1 });
  if (model.isSpoiled) return;
  const holders = [...real.holds].filter(([, hold]) => isInForce(hold)).map(([{ who }]) => who);
  expect(new Set(holders).size).toBeLessThanOrEqual(1);
}

export abstract class Step implements fc.AsyncCommand<RedLockModel, Real> {
  check(_model: Readonly<RedLockModel>): boolean {
    return true;
  }

  async run(model: RedLockModel, real: Real): Promise<void> {
    await this.act(model, real);
    await check(model, real);
  }

  protected abstract act(model: RedLockModel, real: Real): Promise<void>;
  abstract toString(): string;
}

export abstract class PersonalStep extends Step {
  readonly who: string;

  constructor(who: string) {
    super();
    this.who = who;
  }

  protected get person(): Person {
    return PEOPLE[this.who] as Person;
  }

  protected owned(real: Real): { owner: Owner } {
    return { owner: real.owners.get(this.who) as Owner };
  }

  protected lock(real: Real): Lock {
    return redLock(real, this.person.party);
  }

  /** The member that the owner can take for itself. */
  protected member(real: Real): Lock {
    return homeOf(real.parties, this.who).getLock(real.name);
  }

  protected home(model: RedLockModel): Place {
    return model.places[this.person.home] as Place;
  }

  toString(): string {
    return `${this.who} ${this.constructor.name}`;
  }
}

export class Take extends PersonalStep {
  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const expected = model.quorumRound(this.who);
    for (let round = 1; ; round += 1) {
      const askedAt = performance.now();
      const answer = await answerOf(this.lock(real).tryLock({ ...this.owned(real), leaseMs: LEASE_MS }));
      const hold = answer !== null && typeof answer === 'object' ? (answer as Hold) : undefined;
      if (hold !== undefined) {
        // Whoever was not waited for joins later, or has been too slow.
        const isWhole = () => placesOf(real, hold).size >= (expected?.length ?? 0);
        await eventually(isWhole, { withinMs: 2 * ANSWER_MS, everyMs: 1 }).catch(() => undefined);
        // However slow they are, nobody grants what is taken.
        expect(expected).toEqual(expect.arrayContaining([...placesOf(real, hold).keys()]));
      }
      const outcome = hold === undefined ? answer : [...placesOf(real, hold).keys()];
      const isInTime = performance.now() - askedAt < ANSWER_MS * 0.9;
      if (isInTime || round === ROUNDS || JSON.stringify(outcome) === JSON.stringify(expected)) {
        expect(outcome).toEqual(expected);
        if (hold !== undefined) await this.#enter(model, real, hold);
        return;
      }
      await hold?.unlock();
      await check(model, real);
    }
  }

  async #enter(model: RedLockModel, real: Real, hold: Hold): Promise<void> {
    const entries: Entry[] = [];
    for (const [i, field] of placesOf(real, hold)) {
      const place = model.places[i] as Place;
      entries.push(model.enter(this.who, place));
      real.fields.set(place.stays.get(this.who) as Stay, field);
    }
    const group: Group = { who: this.who, entries, isLost: false, isOver: false };
    model.groups.push(group);
    real.holds.set(group, hold);
    await hold.extend(HELD_MS);
  }
}

export class Leave extends PersonalStep {
  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const { who } = this;
    const entered = model.places.filter(({ stays }) => stays.has(who));
    const answer = await answerOf(this.lock(real).unlock(this.owned(real)));
    let left = 0;
    if (entered.length >= model.needed) {
      for (const place of entered) {
        if (model.leave(who, place, place.stays.get(who)?.entries.at(-1) as Entry)) left += 1;
      }
    }
    expect(answer).toBe(left >= model.needed ? undefined : 'ERR_NOT_HELD');
  }
}

export class TakeOne extends PersonalStep {
  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const place = this.home(model);
    const vote = model.vote(this.who, place);
    const answer = await answerOf(this.member(real).tryLock({ ...this.owned(real), leaseMs: HELD_MS }));
    if (vote === 'held') {
      expect(answer).toMatchObject({ name: real.name });
      model.enter(this.who, place);
      real.fields.set(place.stays.get(this.who) as Stay, (answer as Hold).owner);
      return;
    }
    expect(answer).toBe(vote === 'busy' ? null : 'ERR_LEASE_LOST');
    if (vote === 'lost') model.tell(place.stays.get(this.who) as Stay);
  }
}

export class LeaveOne extends PersonalStep {
  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const place = this.home(model);
    const entry = place.stays.get(this.who)?.entries.at(-1);
    const isHeld = entry !== undefined && model.leave(this.who, place, entry);
    const answer = await answerOf(this.member(real).unlock(this.owned(real)));
    expect(answer).toBe(isHeld ? undefined : 'ERR_NOT_HELD');
  }
}

export class Look extends PersonalStep {
  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const lock = this.lock(real);
    const count = model.holdCount(this.who);
    expect(await lock.getHoldCount(this.owned(real))).toBe(count);
    expect(await lock.isHeld(this.owned(real))).toBe(count > 0);
    expect(await lock.isLocked()).toBe(model.isLocked);
  }
}

/** A hold gives back what is left of it, whichever of its owner's it is. */
export class GiveBack extends Step {
  readonly index: number;

  constructor(index: number) {
    super();
    this.index = index;
  }

  override check({ groups }: Readonly<RedLockModel>): boolean {
    return groups.some(({ isOver }) => !isOver);
  }

  protected async act(model: RedLockModel, real: Real): Promise<void> {
    const open = model.groups.filter(({ isOver }) => !isOver);
    const group = open[this.index % open.length] as Group;
    const expected = model.giveBack(group);
    expect(await real.holds.get(group)?.unlock()).toBe(expected);
  }

  toString(): string {
    return `hold ${this.index} GiveBack`;
  }
}

export class Force extends Step {
  readonly party: number;

  constructor(party: number) {
    super();
    this.party = party;
  }

  protected async act(model: RedLockModel, real: Real): Promise<void> {
    expect(await redLock(real, this.party).forceUnlock()).toBe(!model.places.every(isFree));
    for (const place of model.places) {
      // Who lost it before hears of that at the next renewal, as without this.
      const ended = [...place.stays].filter(([, { lost }]) => !lost);
      model.free(place);
      for (const [who, stay] of ended) if (PEOPLE[who]?.party === this.party) model.tell(stay);
    }
  }

  toString(): string {
    return `party ${this.party} Force`;
  }
}

/** By plain commands, on some of the servers. */
export class Meddle extends Step {
  readonly how: 'occupy' | 'vacate' | 'remove';
  readonly where: readonly number[];

  constructor(how: 'occupy' | 'vacate' | 'remove', where: readonly number[]) {
    super();
    this.how = how;
    this.where = where;
  }

  protected async act(model: RedLockModel, { raws, name }: Real): Promise<void> {
    for (const i of this.where) {
      const [place, raw] = [model.places[i], raws[i]];
      if (place === undefined || raw === undefined) continue;
      if (this.how === 'occupy' && isFree(place)) {
        await raw.command('HSET', name, 'stranger', 1);
        await raw.command('PEXPIRE', name, HELD_MS);
        place.foreign = true;
      } else if (this.how === 'remove' || (this.how === 'vacate' && place.foreign)) {
        await raw.command('DEL', name);
        model.free(place);
      }
    }
  }

  toString(): string {
    return `strangers ${this.how} ${this.where}`;
  }
}
