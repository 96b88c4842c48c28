/**
 * The red lock against a plain model of it, over three and over five servers: any sequence of taking, entering
 * again, giving back and forcing by owners of two parties, while members are taken for themselves, by strangers,
 * and removed under their holders, is answered and leaves the servers as the model has it.
 */
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { Holdfast, type Owner } from '../../src/index.ts';
import { LEASE_MS, serversForAll } from '../behaviour/support/red-lock-servers.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess, openRaw } from '../harness/servers.ts';
import { RedLockModel } from './support/red-lock-model.ts';
import {
  Force,
  GiveBack,
  homeOf,
  Leave,
  LeaveOne,
  Look,
  Meddle,
  PEOPLE,
  type PersonalStep,
  type Real,
  Take,
  TakeOne,
} from './support/red-lock-steps.ts';
import { runs } from './support/runs.ts';

const who = fc.constantFrom(...Object.keys(PEOPLE));
const where = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 1 });
const few = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 1, maxLength: 2 });
const personal = (Kind: new (who: string) => PersonalStep) => who.map((person) => new Kind(person));
const commands = fc.commands(
  [
    personal(Take),
    personal(Take),
    personal(Take),
    personal(Take),
    personal(Leave),
    personal(Leave),
    personal(TakeOne),
    personal(LeaveOne),
    personal(Look),
    fc.nat(9).map((index) => new GiveBack(index)),
    fc.nat(1).map((party) => new Force(party)),
    few.map((places) => new Meddle('occupy', places)),
    where.map((places) => new Meddle('vacate', places)),
    few.map((places) => new Meddle('remove', places)),
  ],
  { maxCommands: 40, size: 'max' },
);

/** Everybody goes home: no key of the lock is left, and nothing else that does not end by itself. */
async function clearUp(model: RedLockModel, real: Real): Promise<void> {
  await new Meddle('vacate', [...model.places.keys()]).run(model, real);
  for (const group of model.groups) if (!group.isOver) await new GiveBack(0).run(model, real);
  for (const person of Object.keys(PEOPLE)) {
    const home = PEOPLE[person]?.home ?? 0;
    while (model.places[home]?.stays.has(person)) await new LeaveOne(person).run(model, real);
  }
  for (const raw of real.raws) {
    const left = (await raw.command('KEYS', `*${real.name}*`)) as string[];
    expect(left).not.toContain(real.name);
    for (const key of left) expect(await raw.command('PTTL', key), key).not.toBe(-1);
  }
}

describeWithProcess('red lock against its model', () => {
  const servers = serversForAll(5);

  it('answers and keeps what the model does', async () => {
    const raws = await Promise.all(servers.map(({ host, port }) => openRaw(host, port)));
    const party = () =>
      Promise.all(servers.map(({ url }) => Holdfast.connect(url, { watchdogMs: LEASE_MS })));
    const parties = [await party(), await party()];
    onTestFinished(() => Promise.all(parties.flat().map((client) => client.close())).then(() => undefined));

    const run = async (size: number, steps: Iterable<fc.AsyncCommand<RedLockModel, Real>>) => {
      const present = parties.map((clients) => clients.slice(0, size));
      const owners = Object.keys(PEOPLE).map((person): [string, Owner] => {
        return [person, homeOf(present, person).owner()];
      });
      const model = new RedLockModel(size);
      const real: Real = {
        name: randomName(),
        raws: raws.slice(0, size),
        parties: present,
        owners: new Map(owners),
        holds: new Map(),
        fields: new Map(),
      };
      await fc.asyncModelRun(() => ({ model, real }), steps);
      await clearUp(model, real);
    };
    await fc.assert(fc.asyncProperty(fc.constantFrom(3, 5), commands, run), {
      numRuns: runs(80),
      interruptAfterTimeLimit: 20_000,
    });
  });
});
