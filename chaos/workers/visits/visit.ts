/** What a visit has at hand, and the small steps that most visits share. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Holdfast } from '../../../src/index.ts';
import type { Random } from '../../../src/testing/history/random.ts';
import type { Holdable, RecordedHold, Recorder } from '../../../src/testing/history/recorder.ts';
import type { WitnessClient } from '../../witness/client.ts';
import type { Counter } from '../../witness/service.ts';

export interface VisitContext {
  readonly clients: readonly Holdfast[];
  readonly client: Holdfast;
  readonly recorder: Recorder;
  readonly witness: WitnessClient;
  readonly random: Random;
  /** Who acts, unique in its process. */
  readonly worker: string;
  /** Where the names of this storm begin. */
  readonly prefix: string;
  /** The lease that the watchdog keeps up. */
  readonly watchdogMs: number;
  /** Ends when the storm does: calls that would wait for a turn stop waiting. */
  readonly over: AbortSignal;
}

/** One use of a primitive. What a call rejects with is recorded where it is made, and may end the visit. */
export type Visit = (context: VisitContext) => Promise<void>;

/** A name that several workers of all processes use. */
export function nameOf({ prefix, random }: VisitContext, primitive: string, count: number): string {
  return `${prefix}:${primitive}:${random.integer(1, count)}`;
}

/** How long to hold: mostly for a moment, now and then until the lease is nearly over, or over. */
export function holdMs({ random }: VisitContext, leaseMs: number): number {
  const dice = random.next();
  if (dice < 0.9994) return dice < 0.8 ? 0 : random.between(0, 3);
  return dice < 0.9997 ? random.between(0.3, 0.9) * leaseMs : random.between(1, 1.3) * leaseMs;
}

/** A lease to ask for; undefined leaves it to the watchdog. */
export function leaseOf({ random, watchdogMs }: VisitContext): number | undefined {
  return random.chance(0.4) ? Math.round(random.between(0.25, 0.7) * watchdogMs) : undefined;
}

/** How long to wait for a turn; 0 is a single try. */
export function waitOf({ random, watchdogMs }: VisitContext): number {
  const dice = random.next();
  if (dice < 0.3) return 0;
  return Math.round(watchdogMs * (dice < 0.95 ? random.between(0.01, 0.1) : random.between(0.1, 1.5)));
}

export async function pause(ms: number): Promise<void> {
  if (ms > 0) await sleep(ms);
}

/**
 * Reads the witness's counter, works, and writes it back plus one if the holder still believes to hold. With a token
 * the witness may refuse, which is what fencing is for.
 */
export async function addOne<H extends Holdable & { assertHeld(): void }>(
  { recorder, witness, worker }: VisitContext,
  { hold, id }: RecordedHold<H>,
  { counter, key, forMs }: { counter: Counter; key: string; forMs: number },
): Promise<void> {
  const token = hold.token === undefined ? {} : { token: hold.token };
  const read = await witness.ask({ ask: 'read', counter, key, ...token });
  await pause(forMs);
  if ('refused' in read) return;
  try {
    hold.assertHeld();
  } catch {
    return;
  }
  const about = { worker, key, kind: 'lock', hold: id, ...token } as const;
  const write = { ask: 'write', counter, key, value: read.value + 1, ...token } as const;
  await recorder.call(
    'write',
    about,
    () => witness.ask(write),
    (answer) => 'value' in answer,
  );
}
