/**
 * The multi lock against a plain model of it: any sequence of taking and leaving some locks as one, and single
 * ones beside, by owners of two clients, is answered and leaves Redis as the model has it. A lock that is lost by
 * force spoils what it is part of, and nothing else.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Holdfast, Lock, Owner } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { runs } from './support/runs.ts';
import { twoClients } from './support/steps.ts';

/** A lock, and the client that it is spoken to through: 0 or 1. */
interface Member {
  readonly letter: string;
  readonly client: number;
}

/** What somebody has of one lock, through one client. */
interface Stay {
  entries: number;
  lost: boolean;
}

interface Model {
  readonly stays: Map<string, Stay>;
}

interface Real {
  readonly name: string;
  readonly raw: RawConnection;
  readonly clients: readonly Holdfast[];
  readonly owners: ReadonlyMap<string, Owner>;
  readonly fields: Map<string, string>;
}

const LETTERS = ['a', 'b', 'c', 'd'];
const PEOPLE = ['0:x', '0:y', '1:x', '1:y'];
const clientOf = (who: string) => Number(who[0]);
const stayAt = (who: string, { letter, client }: Member) => `${letter} ${client} ${who}`;

/** Who is inside on the server. */
function insideOf(model: Model, letter: string): string | undefined {
  return [...model.stays].find(([key, { lost }]) => key.startsWith(`${letter} `) && !lost)?.[0];
}

function lockOf(real: Real, members: readonly Member[]): Lock {
  const locks = members.map(({ letter, client }) => {
    return (real.clients[client] as Holdfast).getLock(`${real.name}:${letter}`);
  });
  const [single] = locks as [Lock];
  return locks.length === 1 ? single : (real.clients[0] as Holdfast).getMultiLock(...locks);
}

/** An owner must belong to a client of one of the members. */
function isForeign(who: string, members: readonly Member[]): boolean {
  return !members.some(({ client }) => client === clientOf(who));
}

async function answerOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((error: { code: string }) => error.code);
}

async function check(model: Model, { raw, name, fields }: Real): Promise<void> {
  for (const letter of LETTERS) {
    const inside = insideOf(model, letter);
    const expected =
      inside === undefined ? [] : [fields.get(inside), String(model.stays.get(inside)?.entries)];
    expect(await raw.command('HGETALL', `${name}:${letter}`), letter).toEqual(expected);
  }
}

abstract class Step implements fc.AsyncCommand<Model, Real> {
  readonly who: string;
  readonly members: readonly Member[];

  constructor(who: string, members: readonly Member[]) {
    this.who = who;
    this.members = members;
  }

  check(_model: Readonly<Model>): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    const lock = lockOf(real, this.members);
    if (isForeign(this.who, this.members)) {
      expect(await answerOf(lock.tryLock({ owner: real.owners.get(this.who) }))).toBe('ERR_INVALID_OPTION');
    } else {
      await this.act(model, real, lock);
    }
    await check(model, real);
  }

  protected stays(model: Model): (Stay | undefined)[] {
    return this.members.map((member) => model.stays.get(stayAt(this.who, member)));
  }

  protected abstract act(model: Model, real: Real, lock: Lock): Promise<void>;

  toString(): string {
    const which = this.members.map(({ letter, client }) => `${letter}@${client}`).join('+');
    return `${this.who} ${this.constructor.name} ${which}`;
  }
}

class Take extends Step {
  protected async act(model: Model, real: Real, lock: Lock): Promise<void> {
    const { who, members } = this;
    const isLost = this.stays(model).some((stay) => stay?.lost);
    const isBusy = members.some((member) => {
      const inside = insideOf(model, member.letter);
      return inside !== undefined && inside !== stayAt(who, member);
    });
    const answer = await answerOf(lock.tryLock({ owner: real.owners.get(who), leaseMs: 60_000 }));
    if (isLost) expect(answer).toBe('ERR_LEASE_LOST');
    else if (isBusy) expect(answer).toBeNull();
    if (isLost || isBusy) return;
    const { owner, name } = answer as { owner: string; name: string };
    const fields = owner.split(' ');
    const inOrder = [...members].sort((a, b) => (a.letter < b.letter ? -1 : 1));
    expect(name).toBe(inOrder.map(({ letter }) => `${real.name}:${letter}`).join(' + '));
    for (const [i, member] of inOrder.entries()) {
      const key = stayAt(who, member);
      const stay = model.stays.get(key) ?? { entries: 0, lost: false };
      stay.entries += 1;
      model.stays.set(key, stay);
      real.fields.set(key, fields[i] as string);
    }
  }
}

class Leave extends Step {
  protected async act(model: Model, real: Real, lock: Lock): Promise<void> {
    const stays = this.stays(model);
    const answer = await answerOf(lock.unlock({ owner: real.owners.get(this.who) }));
    const isThere = stays.every((stay) => stay !== undefined);
    const isWhole = isThere && stays.every((stay) => !stay?.lost);
    expect(answer).toBe(isWhole ? undefined : 'ERR_NOT_HELD');
    if (!isThere) return;
    for (const member of this.members) {
      const key = stayAt(this.who, member);
      const stay = model.stays.get(key) as Stay;
      stay.entries -= 1;
      if (stay.entries === 0) model.stays.delete(key);
    }
  }
}

/** By the client of who holds it, so that the holder is told. */
class Force extends Step {
  override check(model: Readonly<Model>): boolean {
    return this.members.every((member) => {
      const inside = insideOf(model, member.letter);
      return inside === undefined || inside.startsWith(`${member.letter} ${member.client} `);
    });
  }

  protected async act(model: Model, _real: Real, lock: Lock): Promise<void> {
    const inside = this.members.flatMap(({ letter }) => insideOf(model, letter) ?? []);
    expect(await lock.forceUnlock()).toBe(inside.length > 0);
    for (const key of inside) (model.stays.get(key) as Stay).lost = true;
  }
}

class Look extends Step {
  protected async act(model: Model, real: Real, lock: Lock): Promise<void> {
    const counts = this.stays(model).map((stay) => (stay === undefined || stay.lost ? 0 : stay.entries));
    expect(await lock.getHoldCount({ owner: real.owners.get(this.who) })).toBe(Math.min(...counts));
    const isLocked = this.members.some(({ letter }) => insideOf(model, letter) !== undefined);
    expect(await lock.isLocked()).toBe(isLocked);
  }
}

const who = fc.constantFrom(...PEOPLE);
/** Some locks, each once, in any order. */
const members = fc
  .tuple(fc.shuffledSubarray(LETTERS, { minLength: 1 }), fc.array(fc.nat(1), { minLength: 4, maxLength: 4 }))
  .map(([letters, clients]) => letters.map((letter, i) => ({ letter, client: clients[i] as number })));
const step = (Kind: new (who: string, members: readonly Member[]) => Step) =>
  fc.tuple(who, members).map(([person, which]) => new Kind(person, which));
const commands = fc.commands([step(Take), step(Take), step(Leave), step(Leave), step(Force), step(Look)], {
  maxCommands: 40,
  size: 'max',
});

describe('multi lock against its model', () => {
  it('answers and keeps what the model does', async () => {
    const raw = await openShared();
    const clients = await twoClients();
    const setup = (): { model: Model; real: Real } => {
      const owners = new Map(
        PEOPLE.map((person) => [person, (clients[clientOf(person)] as Holdfast).owner()]),
      );
      return {
        model: { stays: new Map() },
        real: { name: randomName(), raw, clients, owners, fields: new Map() },
      };
    };
    await fc.assert(
      fc.asyncProperty(commands, (steps) => fc.asyncModelRun(setup, steps)),
      { numRuns: runs(80) },
    );
  });
});
