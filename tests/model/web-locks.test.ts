/**
 * The web locks of two clients against a plain model of them: any sequence of requests, exclusive and shared, that
 * wait, look whether it is available or steal, give up, leave early, and end well or with an error, is answered and
 * listed by `query()` as the model has it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Holdfast, type WebLock, type WebLockInfo, type WebLockMode } from '../../src/index.ts';
import { waitingWritersKey } from '../../src/keys.ts';
import type { RawConnection } from '../../src/testing/index.ts';
import { gate } from '../behaviour/support/moments.ts';
import { fieldsOf } from '../behaviour/support/read-write-lock-by-hand.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { runs } from './support/runs.ts';
import { type Found, type Request, WebLocksModel } from './support/web-locks-model.ts';

/** Sooner than what was missed heals by itself: a note that nobody renews lasts 3 s, readers ask again after 4. */
const SOON_MS = 2_500;

type Way = 'wait' | 'signal' | 'ifAvailable' | 'steal';

/** A request that was really made. */
interface Visit {
  /** What the callback was called with; undefined until then. */
  readonly lock: WebLock | null | undefined;
  /** Ends the callback: with the error, if there is one. */
  end(error?: Error): void;
  readonly giveUp: AbortController;
  readonly outcome: Promise<{ value: unknown } | { error: unknown }>;
}

interface Real {
  readonly names: Readonly<Record<string, string>>;
  readonly raw: RawConnection;
  readonly clients: readonly Holdfast[];
  readonly visits: Map<Request, Visit>;
}

function visit(real: Real, client: number, letter: string, mode: WebLockMode, way: Way): Visit {
  const giveUp = new AbortController();
  const done = gate();
  let lock: WebLock | null | undefined;
  let failure: Error | undefined;
  const callback = async (given: WebLock | null) => {
    lock = given;
    if (given !== null) await done.opened;
    if (failure !== undefined) throw failure;
    return done;
  };
  const { signal } = giveUp;
  const options = {
    mode,
    ...(way === 'signal' ? { signal } : way === 'wait' ? {} : { [way]: true }),
  };
  const outcome = (real.clients[client] as Holdfast).locks
    .request(real.names[letter] as string, options, callback)
    .then(
      (value) => ({ value: value === done }),
      (error: unknown) => ({ error }),
    );
  return {
    get lock() {
      return lock;
    },
    end: (error) => {
      failure = error;
      done.open();
    },
    giveUp,
    outcome,
  };
}

function visitOf(real: Real, request: Request): Visit {
  return real.visits.get(request) as Visit;
}

async function find({ raw, names, clients }: Real, letter: string): Promise<Found & { fields: string[] }> {
  const name = names[letter] as string;
  const clientOf = (field: string) => clients.findIndex(({ id }) => field.startsWith(id));
  // In this order: once all who should be noted are, no others come in to share.
  const noting = raw.command('ZRANGE', waitingWritersKey(name), 0, -1);
  const [notes, { mode, ...counts }] = await Promise.all([noting as Promise<string[]>, fieldsOf(raw, name)]);
  const fields = Object.keys(counts);
  if (fields.length > 0) expect(mode).toBe(fields[0]?.endsWith(':write') ? 'write' : 'read');
  return { holders: fields.map(clientOf), notes: notes.map(clientOf), fields };
}

function sorted(infos: readonly WebLockInfo[]): string[] {
  return infos.map(({ name, mode, clientId }) => `${name} ${mode} ${clientId}`).sort();
}

/** Until everybody is inside who may be, and everything is as the model has it. */
async function settle(model: WebLocksModel, real: Real): Promise<void> {
  const settling = Object.keys(real.names).map((letter) =>
    eventually(
      async () => {
        const { fields, ...found } = await find(real, letter);
        const came = model.in('waiting').filter((each) => {
          return each.letter === letter && visitOf(real, each).lock !== undefined;
        });
        const known = [...model.holders(letter), ...came].map((each) => visitOf(real, each).lock?.owner);
        expect(fields.sort()).toEqual(known.sort());
        model.comeIn(letter, came, found);
      },
      { withinMs: SOON_MS, everyMs: 1 },
    ),
  );
  await Promise.all(settling);
  for (const each of model.in('inside')) {
    const { name, mode, signal, remainingMs } = visitOf(real, each).lock as WebLock;
    expect([name, mode]).toEqual([real.names[each.letter], each.mode]);
    expect(signal.aborted).toBe(each.lost === 'forced');
    expect(remainingMs > 0).toBe(!each.hasLeft && each.lost !== 'forced');
  }
  const queries = await Promise.all(real.clients.map((client) => client.locks.query()));
  for (const [client, { held, pending }] of queries.entries()) {
    const expected = model.query(client, ({ letter, mode, client: whose }) => {
      return { name: real.names[letter] as string, mode, clientId: real.clients[whose]?.id ?? '' };
    });
    expect([sorted(held), sorted(pending)]).toEqual([sorted(expected.held), sorted(expected.pending)]);
  }
}

abstract class Step implements fc.AsyncCommand<WebLocksModel, Real> {
  check(_model: Readonly<WebLocksModel>): boolean {
    return true;
  }

  async run(model: WebLocksModel, real: Real): Promise<void> {
    await this.act(model, real);
    await settle(model, real);
  }

  protected abstract act(model: WebLocksModel, real: Real): Promise<void>;
  abstract toString(): string;
}

class Ask extends Step {
  readonly client: number;
  readonly letter: string;
  readonly mode: WebLockMode;
  readonly way: Way;

  constructor(client: number, letter: string, mode: WebLockMode, way: Way) {
    super();
    this.client = client;
    this.letter = letter;
    this.mode = way === 'steal' ? 'exclusive' : mode;
    this.way = way;
  }

  protected async act(model: WebLocksModel, real: Real): Promise<void> {
    const { client, letter, mode, way } = this;
    const isAvailable = way === 'steal' || model.isAvailable(letter, mode);
    const made = visit(real, client, letter, mode, way);
    const note = (state: Request['state']) => {
      real.visits.set(model.make({ client, letter, mode, isAbortable: way === 'signal' }, state), made);
    };
    if (way === 'wait' || way === 'signal') {
      note('waiting');
      return;
    }
    await eventually(() => made.lock !== undefined);
    expect(made.lock === null).toBe(!isAvailable);
    if (made.lock === null) {
      expect(await made.outcome).toEqual({ value: true });
      return;
    }
    if (way === 'steal') model.rob(letter, client);
    note('inside');
  }

  toString(): string {
    return `${this.client} asks for ${this.letter} ${this.mode} ${this.way}`;
  }
}

/** Something that one of those in some state does. */
abstract class LaterStep extends Step {
  readonly index: number;

  constructor(index: number) {
    super();
    this.index = index;
  }

  override check(model: Readonly<WebLocksModel>): boolean {
    return this.those(model).length > 0;
  }

  protected one(model: WebLocksModel): Request {
    const those = this.those(model);
    return those[this.index % those.length] as Request;
  }

  protected abstract those(model: Readonly<WebLocksModel>): Request[];

  toString(): string {
    return `${this.constructor.name} ${this.index}`;
  }
}

class End extends LaterStep {
  protected those(model: Readonly<WebLocksModel>): Request[] {
    return model.in('inside');
  }

  protected async act(model: WebLocksModel, real: Real): Promise<void> {
    const request = this.one(model);
    const { end, outcome } = visitOf(real, request);
    const error = this.index % 3 === 0 ? new Error('from the callback') : undefined;
    end(error);
    const ended = await outcome;
    if (error !== undefined) expect(ended).toEqual({ error });
    else if (request.lost === undefined) expect(ended).toEqual({ value: true });
    else expect(ended).toMatchObject({ error: { code: 'ERR_LEASE_LOST', reason: request.lost } });
    request.state = 'over';
  }
}

class LeaveEarly extends LaterStep {
  protected those(model: Readonly<WebLocksModel>): Request[] {
    return model.in('inside');
  }

  protected async act(model: WebLocksModel, real: Real): Promise<void> {
    const request = this.one(model);
    expect(await visitOf(real, request).lock?.unlock()).toBe(request.lost === undefined);
    request.hasLeft = true;
  }
}

/** Also of those that are inside: it changes nothing for them. */
class GiveUp extends LaterStep {
  protected those(model: Readonly<WebLocksModel>): Request[] {
    return model.requests.filter(({ isAbortable, state }) => isAbortable && state !== 'over');
  }

  protected async act(model: WebLocksModel, real: Real): Promise<void> {
    const request = this.one(model);
    const { giveUp, outcome } = visitOf(real, request);
    const error = new Error('enough');
    giveUp.abort(error);
    if (request.state === 'inside') return;
    expect(((await outcome) as { error: unknown }).error).toBe(error);
    model.giveUp(request);
  }
}

const client = fc.nat(1);
const letter = fc.constantFrom('a', 'a', 'b');
const mode = fc.constantFrom<WebLockMode[]>('exclusive', 'shared');
const ask = (...ways: Way[]) =>
  fc.tuple(client, letter, mode, fc.constantFrom(...ways)).map((args) => new Ask(...args));
const later = (Kind: new (index: number) => LaterStep) => fc.nat(99).map((index) => new Kind(index));
const commands = fc.commands(
  [
    ask('wait', 'signal'),
    ask('wait', 'signal'),
    ask('wait', 'signal'),
    ask('ifAvailable', 'ifAvailable', 'steal'),
    later(End),
    later(End),
    fc.oneof(later(LeaveEarly), later(GiveUp), later(GiveUp)),
  ],
  { maxCommands: 40, size: 'max' },
);

/** All end, and with them those who come in because of that; nothing is left that does not end by itself. */
async function clearUp(model: WebLocksModel, real: Real): Promise<void> {
  while (model.in('inside').length > 0) await new End(1).run(model, real);
  expect(model.in('waiting')).toEqual([]);
  for (const name of Object.values(real.names)) {
    const left = (await real.raw.command('KEYS', `*${name}*`)) as string[];
    expect(left).not.toContain(name);
    for (const key of left) expect(await real.raw.command('PTTL', key), key).not.toBe(-1);
  }
}

describe('web locks against their model', () => {
  it('answer and list what the model does', async () => {
    const raw = await openShared();
    const connect = () => Holdfast.connect(sharedServer().url, { watchdogMs: 120_000 });
    const run = async (steps: Iterable<fc.AsyncCommand<WebLocksModel, Real>>) => {
      const clients = await Promise.all([connect(), connect()]);
      const model = new WebLocksModel();
      const real: Real = { names: { a: randomName(), b: randomName() }, raw, clients, visits: new Map() };
      try {
        await fc.asyncModelRun(() => ({ model, real }), steps);
        await clearUp(model, real);
      } finally {
        // After a failure some wait on, and would be listed in the next run.
        await Promise.all(clients.map((each) => each.close()));
      }
    };
    await fc.assert(fc.asyncProperty(commands, run), { numRuns: runs(60), interruptAfterTimeLimit: 20_000 });
  });
});
