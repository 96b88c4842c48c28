/**
 * One lock, one who holds it and one who waits for it, while something happens to the servers; and a record of
 * when each of them believed to have it.
 */
import { expect } from 'vitest';
import type { Hold, Holdfast, Lock } from '../../../src/index.ts';
import { lockChannel, readWriteChannel } from '../../../src/keys.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { eventually } from '../../harness/wait.ts';
import { type Settled, timed } from './arena.ts';
import { check, type HistoryEvent, recorder, type Violation } from './history.ts';

export interface Duelists {
  readonly title: string;
  readonly name: string;
  readonly holder: Holdfast;
  readonly waiter: Holdfast;
  get?(client: Holdfast, name: string): Lock;
}

/** How many listen on a server to the wake-ups of a lock, of whatever kind. */
async function listeners(server: TestServer, key: string): Promise<number> {
  const channels = [lockChannel(key), readWriteChannel(key)];
  const answers = await Promise.all([
    server.command('PUBSUB', 'NUMSUB', ...channels),
    server.command('PUBSUB', 'SHARDNUMSUB', ...channels),
  ]);
  // Each channel is followed by its number.
  const counts = answers.flatMap((answer) => (answer as unknown[]).filter((_, index) => index % 2 === 1));
  return counts.reduce<number>((sum, count) => sum + Number(count), 0);
}

export class Duel {
  readonly title: string;
  readonly name: string;
  readonly hold: Hold;
  /** How the waiter's wish ended, from the moment it waited. */
  readonly waiting: Promise<Settled>;
  readonly #events: HistoryEvent[];
  #hasEntered = false;

  private constructor(
    { title, name }: Duelists,
    hold: Hold,
    events: HistoryEvent[],
    entering: Promise<Hold>,
  ) {
    this.title = title;
    this.name = name;
    this.hold = hold;
    this.#events = events;
    this.waiting = timed(entering);
    // Who asks whether it has entered also asks for how it went.
    entering.then(
      () => {
        this.#hasEntered = true;
      },
      () => undefined,
    );
  }

  /** Resolves when the one holds it, and the other listens on `server` for its release. */
  static async begin(who: Duelists, server: TestServer): Promise<Duel> {
    const { name, holder, waiter, get = (client) => client.getLock(name) } = who;
    const events: HistoryEvent[] = [];
    const hold = await enter(get(holder, name), events, 0);
    const duel = new Duel(who, hold, events, enter(get(waiter, name), events, 1));
    await eventually(async () => (await listeners(server, name)) > 0);
    return duel;
  }

  /** Whether the waiter believes to have it. */
  get hasEntered(): boolean {
    return this.#hasEntered;
  }

  /** The holder leaves; answers whether it had it until then. */
  release(): Promise<boolean> {
    return leave(this.hold, this.name, this.#events);
  }

  /** The waiter comes in, within this time, and leaves. */
  async finish(withinMs: number): Promise<Settled> {
    const entered = await Promise.race([this.waiting, timed(tooLate(this.name, withinMs))]);
    if (entered.error !== undefined) throw entered.error;
    await leave(entered.value as Hold, this.name, this.#events);
    return entered;
  }

  /** Everything in it that was not allowed. */
  violations(): Violation[] {
    return check(this.#events);
  }

  /** How often two believed to have it at the same time. */
  overlaps(): number {
    return this.violations().filter(({ kind }) => kind === 'overlap').length;
  }
}

/** The holder has it still, and leaves; then the waiter comes in within this time. */
export async function assertKept(duel: Duel, withinMs: number): Promise<void> {
  expect(duel.hasEntered, duel.title).toBe(false);
  duel.hold.assertHeld();
  expect(await duel.release(), duel.title).toBe(true);
  await duel.finish(withinMs);
  expect(duel.violations(), duel.title).toEqual([]);
}

/** The waiter comes in within this time, while the holder believes to have it. */
export async function assertDoubled(duel: Duel, withinMs: number): Promise<void> {
  await duel.finish(withinMs);
  expect(duel.overlaps(), duel.title).toBe(1);
}

async function tooLate(name: string, withinMs: number): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, withinMs).unref());
  throw new Error(`The waiter of ${name} did not come in within ${withinMs} ms`);
}

async function enter(lock: Lock, events: HistoryEvent[], worker: number): Promise<Hold> {
  const record = recorder(events);
  const key = lock.name;
  record({ worker, key, op: 'acquire', type: 'invoke' });
  try {
    const hold = await lock.lock();
    record({ worker, key, op: 'acquire', type: 'ok', hold: hold.owner });
    hold.signal.addEventListener('abort', () =>
      record({ worker, key, op: 'lost', type: 'info', hold: hold.owner }),
    );
    return hold;
  } catch (error) {
    record({ worker, key, op: 'acquire', type: 'fail' });
    throw error;
  }
}

async function leave(hold: Hold, key: string, events: HistoryEvent[]): Promise<boolean> {
  const record = recorder(events);
  record({ worker: 0, key, op: 'unlock', type: 'invoke', hold: hold.owner });
  const released = await hold.unlock();
  record({ worker: 0, key, op: 'unlock', type: released ? 'ok' : 'fail', hold: hold.owner });
  return released;
}
