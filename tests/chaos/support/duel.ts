/**
 * One lock, one who holds it and one who waits for it, while something happens to the servers; and a record of
 * when each of them believed to have it.
 */
import { expect } from 'vitest';
import type { Hold, Holdfast, Lock } from '../../../src/index.ts';
import { lockChannel, readWriteChannel } from '../../../src/keys.ts';
import type { RecordedHold, Recorder, TestServer, Violation } from '../../../src/testing/index.ts';
import { eventually } from '../../harness/wait.ts';
import { type Settled, timed } from './arena.ts';
import { Journal } from './journal.ts';

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
  /** How the waiter's wish ended, from the moment it waited. */
  readonly waiting: Promise<Settled>;
  readonly #held: RecordedHold<Hold>;
  readonly #journal: Journal;
  #hasEntered = false;

  private constructor(
    { title, name }: Duelists,
    held: RecordedHold<Hold>,
    journal: Journal,
    entering: Promise<RecordedHold<Hold>>,
  ) {
    this.title = title;
    this.name = name;
    this.#held = held;
    this.#journal = journal;
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
    const { title, name, holder, waiter, get = (client) => client.getLock(name) } = who;
    const journal = new Journal();
    const recorder = journal.recorder();
    const held = await enter(get(holder, name), recorder, 'holder');
    const duel = new Duel(who, held, journal, enter(get(waiter, name), recorder, 'waiter'));
    await eventually(async () => (await listeners(server, name)) > 0);
    // From here on something happens to the servers: a renewal that fails is no fault of the client.
    recorder.record({ worker: '', key: '', op: 'fault', type: 'invoke', what: title });
    return duel;
  }

  get hold(): Hold {
    return this.#held.hold;
  }

  /** Whether the waiter believes to have it. */
  get hasEntered(): boolean {
    return this.#hasEntered;
  }

  /** The holder leaves; answers whether it had it until then. */
  release(): Promise<boolean> {
    return leave(this.#held);
  }

  /** The waiter comes in, within this time, and leaves. */
  async finish(withinMs: number): Promise<Settled> {
    const entered = await Promise.race([this.waiting, timed(tooLate(this.name, withinMs))]);
    if (entered.error !== undefined) throw entered.error;
    await leave(entered.value as RecordedHold<Hold>);
    return entered;
  }

  /** Everything in it that was not allowed. */
  violations(): readonly Violation[] {
    return this.#journal.violations();
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
  throw new Error(`The waiter of ${name} did not get the lock within ${withinMs} ms`);
}

async function enter(lock: Lock, recorder: Recorder, worker: string): Promise<RecordedHold<Hold>> {
  const request = { worker, key: lock.name, kind: 'lock' } as const;
  return (await recorder.acquire(request, () => lock.lock())) as RecordedHold<Hold>;
}

function leave(held: RecordedHold<Hold>): Promise<boolean> {
  return held.release(() => held.hold.unlock());
}
