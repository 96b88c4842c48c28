/**
 * A lock that is passed on inside a process, against a plain model: tasks of two clients wait for each other, enter
 * again, give up and leave in any order. One at a time is inside, and each that waits gets in, in the order of its
 * client; a tenure goes from task to task of one client only, and the server has its field and its count.
 */
import fc from 'fast-check';
import { describe, expect, inject, it } from 'vitest';
import type { ClientOptions, Hold, Lock, LockOptions, Owner } from '../../src/index.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import {
  countInRedis,
  holderOf,
  type Kind,
  NON_REENTRANT,
  REENTRANT,
  SIMPLE,
} from '../behaviour/support/kinds.ts';
import { randomName } from '../harness/names.ts';
import { openShared } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { PassedLockModel, type Task } from './support/passed-lock-model.ts';
import { runs } from './support/runs.ts';
import { stepsWith, twoClients } from './support/steps.ts';

const TASKS: readonly Task[] = [0, 1].flatMap((client) =>
  ['x', 'y', 'named'].map((id) => ({ id: `${client}:${id}`, client, isNamed: id === 'named' })),
);

/** No run takes so long: the number of holders alone decides, or nothing does. */
const UNHURRIED = { maxMs: 600_000 };
const FEW = 3;
interface Mode {
  readonly title: string;
  readonly passOn: ClientOptions['passOn'];
  readonly maxHolders: number;
}

const PASSING: readonly Mode[] = [
  { title: 'passed on for long', passOn: UNHURRIED, maxHolders: Number.POSITIVE_INFINITY },
  { title: `passed on to ${FEW} tasks`, passOn: { ...UNHURRIED, maxHolds: FEW }, maxHolders: FEW },
];
const NEVER: readonly Mode[] = [{ title: 'never passed on', passOn: false, maxHolders: 1 }];

/** What became of a request: the task got the lock, or gave up. */
type News = { readonly task: Task; readonly hold?: Hold };

interface Real {
  readonly kind: Kind;
  readonly raw: RawConnection;
  readonly name: string;
  readonly locks: readonly Lock[];
  readonly owners: ReadonlyMap<Task, Owner>;
  readonly requests: Map<Task, AbortController>;
  /** The holds of the task that is inside. */
  readonly holds: Hold[];
  readonly ended: Hold[];
  readonly news: News[];
}

const lockOf = ({ locks }: Real, { client }: Task) => locks[client] as Lock;

function optionsOf({ owners }: Real, task: Task): LockOptions {
  return { owner: owners.get(task) };
}

/** Has the model follow what happened; the lock is not left free while a task waits for it. */
async function follow(model: PassedLockModel, real: Real): Promise<void> {
  for (;;) {
    for (const { task, hold } of real.news.splice(0)) {
      if (hold === undefined) {
        if (model.waiting.includes(task)) model.givesUp(task);
      } else {
        model.enters(task, hold.owner);
        real.holds.push(hold);
      }
    }
    if (model.inside !== undefined || model.waiting.length === 0) return;
    await eventually(() => real.news.length > 0);
  }
}

async function check(model: PassedLockModel, real: Real): Promise<void> {
  await follow(model, real);
  const { inside } = model;
  const { kind, raw, name, holds } = real;
  const onServer = await holderOf(raw, kind, name);
  expect(real.news, 'nothing happens by itself').toEqual([]);
  if (inside === undefined) {
    expect(onServer).toBeNull();
    return;
  }
  const { task, entries, field } = inside;
  expect(onServer).toEqual({ owner: field, count: countInRedis(kind, entries) });
  expect(holds.map(({ owner }) => owner)).toEqual(Array(entries).fill(field));
  for (const hold of holds) hold.assertHeld();
  if (task.isNamed) expect(await lockOf(real, task).getHoldCount(optionsOf(real, task))).toBe(entries);
}

const step = stepsWith(check);
type Step = ReturnType<typeof step>;

/** The model hears of it in `follow`. */
function ask(model: PassedLockModel, real: Real, task: Task): void {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  model.waits(task);
  real.requests.set(task, giveUp);
  const asked = lockOf(real, task).lock({ ...optionsOf(real, task), signal });
  void asked.then(
    (hold) => real.news.push({ task, hold }),
    (error: unknown) => {
      if (error === signal.reason) real.news.push({ task });
    },
  );
}

/** Gives back one of the holds inside; resolves when the server knows, or the next task has it. */
function leave(model: PassedLockModel, real: Real, index: number): Promise<boolean> {
  const [hold] = real.holds.splice(index % real.holds.length, 1) as [Hold];
  real.ended.push(hold);
  model.leaves();
  return hold.unlock();
}

const anyTask = fc.constantFrom(...TASKS);
const anyIndex = fc.nat({ max: 99 });

const asking = (task: Task): Step =>
  step(
    `${task.id} asks`,
    async (model, real) => ask(model, real, task),
    (model) => model.isIdle(task),
  );

/** Those with an owner come to their line a little later. */
const askingTogether: Step = step('all that are idle ask at once', async (model, real) => {
  for (const task of TASKS) if (!task.isNamed && model.isIdle(task)) ask(model, real, task);
});

const trying = (task: Task): Step =>
  step(
    `${task.id} tries once`,
    async (model, real) => {
      const hold = await lockOf(real, task).tryLock(optionsOf(real, task));
      expect(hold === null).toBe(model.inside !== undefined);
      if (hold === null) return;
      model.waits(task);
      real.news.push({ task, hold });
    },
    (model) => model.isIdle(task),
  );

const enteringAgain: Step = step(
  'the task inside enters again',
  async (model, real) => {
    const inside = model.inside as NonNullable<typeof model.inside>;
    const entering = lockOf(real, inside.task).lock(optionsOf(real, inside.task));
    if (!real.kind.isReentrant) {
      await expect(entering).rejects.toMatchObject({ code: 'ERR_REENTRY' });
      return;
    }
    real.holds.push(await entering);
    inside.entries += 1;
  },
  ({ inside }) => inside?.task.isNamed === true,
);

const leaving = (index: number, asksAgain: boolean): Step =>
  step(
    asksAgain ? 'the task inside leaves and asks again' : 'the task inside leaves',
    async (model, real) => {
      const { task } = model.inside as NonNullable<typeof model.inside>;
      const leaves = leave(model, real, index);
      if (asksAgain && !task.isNamed) ask(model, real, task);
      expect(await leaves).toBe(true);
    },
    ({ inside }) => inside !== undefined,
  );

/** In the turn of a release the task may have got the lock already: then it keeps it. */
const givingUp = (index: number, order: 'alone' | 'before' | 'after'): Step =>
  step(
    `waiter ${index} gives up${order === 'alone' ? '' : ` in the turn of a release, ${order} it`}`,
    async (model, real) => {
      const task = model.waiting[index % model.waiting.length] as Task;
      const giveUp = () => real.requests.get(task)?.abort(new Error('enough'));
      if (order !== 'after') {
        giveUp();
        // The news may come after that of the next task, which gets the lock in this turn.
        model.givesUp(task);
      }
      const leaves = order === 'alone' ? true : leave(model, real, index);
      if (order === 'after') giveUp();
      expect(await leaves).toBe(true);
      await eventually(() => real.news.some((news) => news.task === task));
    },
    ({ inside, waiting }) => waiting.length > 0 && inside !== undefined,
  );

const leavingTwice = (index: number): Step =>
  step('a task leaves that has left', async (_, { ended }) => {
    if (ended.length > 0) expect(await ended[index % ended.length]?.unlock()).toBe(true);
  });

const commands = fc.commands(
  [
    anyTask.map(asking),
    anyTask.map(asking),
    fc.constant(askingTogether),
    anyTask.map(trying),
    fc.constant(enteringAgain),
    fc.tuple(anyIndex, fc.boolean()).map((given) => leaving(...given)),
    fc.tuple(anyIndex, fc.boolean()).map((given) => leaving(...given)),
    fc.tuple(anyIndex, fc.constantFrom('alone', 'before', 'after')).map((given) => givingUp(...given)),
    anyIndex.map(leavingTwice),
  ],
  { maxCommands: 40, size: 'max' },
);

/** Every task that waits gets in, and the lock is free in the end. */
async function clearUp(model: PassedLockModel, real: Real): Promise<void> {
  while (model.inside !== undefined) await leaving(0, false).run(model, real);
  expect(model.waiting).toEqual([]);
}

describe.each([REENTRANT, NON_REENTRANT, SIMPLE])('$title against its model', (kind) => {
  it.each(inject('passing') === 'off' ? NEVER : PASSING)('$title', async ({ passOn, maxHolders }) => {
    const raw = await openShared();
    const clients = await twoClients({ passOn });
    const lost: unknown[] = [];
    for (const client of clients) client.on('lost', (payload) => lost.push(payload));
    let passed = 0;
    const run = async (steps: Iterable<fc.AsyncCommand<PassedLockModel, Real>>) => {
      const name = randomName('passed');
      const named = TASKS.filter(({ isNamed }) => isNamed);
      const model = new PassedLockModel(maxHolders);
      const real: Real = {
        kind,
        raw,
        name,
        locks: clients.map((client) => kind.of(client, name)),
        owners: new Map(named.map((task) => [task, clients[task.client as 0 | 1].owner()])),
        requests: new Map(),
        holds: [],
        ended: [],
        news: [],
      };
      await fc.asyncModelRun(() => ({ model, real }), steps);
      await clearUp(model, real);
      passed += model.passed;
    };
    await fc.assert(fc.asyncProperty(commands, run), { numRuns: runs(160), interruptAfterTimeLimit: 12_000 });
    expect(lost).toEqual([]);
    if (maxHolders > 1) expect(passed).toBeGreaterThan(0);
  });
});
