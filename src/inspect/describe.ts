/**
 * Describes one key: which primitive its layout shows, and its state. Reads only.
 *
 * Descriptions come in two steps, so that a listing reads the records of all clients together: `look` asks the server
 * about the key, and the function it answers makes the description once the clients are known.
 */
import {
  fairQueueKey,
  permitTimeoutKey,
  ratePermitsKey,
  rateValueKey,
  readHoldKey,
  tokenKey,
} from '../keys.ts';
import { NO_EXPIRY_MS } from '../runtime/protocol.ts';
import {
  inspectDescribe,
  inspectPermits,
  lockPeek,
  rateLimiterAvailablePermits,
  rateLimiterGetConfig,
} from '../scripts/generated.ts';
import type { ScriptRunner } from '../scripts/script.ts';
import type { KnownClients } from './client-records.ts';
import type { Description, HolderInfo, InspectOptions, PermitInfo } from './description.ts';

/** A key as the server described it. */
export interface Sight {
  /** When the server answered, by the wall clock: what is left of a lease counts from then. */
  readonly at: number;
  /** The owner fields in it. */
  readonly owners: readonly string[];
  describe(known: KnownClients): Description;
}

/** When this client got what an owner field or permit id stands for; null if it does not hold that. */
export type HeldSince = (key: string, owner: string) => Date | null;

/** An owner field, how often it entered, and what is left of its lease, as the server tells it. */
type Held = readonly [owner: string, holdCount: number, remainingMs: number];

/** A reader that entered more often than this is judged by its first holds. */
const MOST_HOLDS = 100;

/** The most keys in one call. */
const AT_ONCE = 500;

export class Describer {
  readonly #driver: ScriptRunner;
  readonly #heldSince: HeldSince;

  constructor(driver: ScriptRunner, heldSince: HeldSince) {
    this.#driver = driver;
    this.#heldSince = heldSince;
  }

  async look(key: string, as?: InspectOptions['as']): Promise<Sight> {
    const keys = { lock: key, queue: fairQueueKey(key), token: tokenKey(key), ends: permitTimeoutKey(key) };
    const reply = await inspectDescribe.run(this.#driver, keys, {});
    switch (reply.status) {
      case 'lock':
      case 'simple': {
        const { status: kind, holder, remainingMs } = reply;
        // A semaphore may have an expiry as well.
        const isCount = as !== undefined && kind === 'simple' && /^-?\d{1,15}$/.test(holder);
        if (isCount) return this.#counter(key, Number(holder), as);
        const held: Held = [holder, kind === 'lock' ? reply.holdCount : 1, remainingMs];
        return this.#sight([holder], (known) => ({ key, kind, holders: [this.#holder(key, held, known)] }));
      }
      case 'fair': {
        const { waiters } = reply;
        const held = heldOf(reply);
        return this.#sight([...ownersOf(held), ...waiters], (known) => ({
          key,
          kind: 'fair',
          holders: this.#holders(key, held, known),
          waiters: waiters.map((waiter) => known.owner(waiter)),
        }));
      }
      case 'fenced': {
        const { lastToken } = reply;
        const held = heldOf(reply);
        return this.#sight(ownersOf(held), (known) => ({
          key,
          kind: 'fenced',
          holders: this.#holders(key, held, known),
          lastToken,
        }));
      }
      case 'readWrite':
        return this.#readWrite(key, reply);
      case 'permitSemaphore':
        return this.#permitSemaphore(key, keys.ends);
      case 'rateLimiter':
        return this.#rateLimiter(key);
      case 'counter':
        return this.#counter(key, reply.count, as);
      case 'other':
        return this.#sight([], () => ({ key, kind: 'other', type: reply.type }));
      case 'free':
        return as === 'latch' ? this.#counter(key, 0, as) : this.#sight([], () => ({ key, kind: 'free' }));
    }
  }

  #sight(owners: readonly string[], describe: Sight['describe']): Sight {
    return { at: Date.now(), owners, describe };
  }

  #counter(key: string, count: number, as: InspectOptions['as']): Sight | Promise<Sight> {
    if (as === 'permitSemaphore') return this.#permitSemaphore(key, permitTimeoutKey(key));
    return this.#sight([], () => {
      if (as === 'semaphore') return { key, kind: as, freePermits: count };
      return as === 'latch' ? { key, kind: as, count } : { key, kind: 'counter', count };
    });
  }

  /** Every reader has its own lease, in keys that the server can only name after it has named the readers. */
  async #readWrite(
    key: string,
    reply: { mode: string; remainingMs: number; holders: string[] },
  ): Promise<Sight> {
    const fields = pairs(reply.holders);
    const holdKeys = fields.flatMap(([field, count]) => {
      if (field.endsWith(':write')) return [];
      return Array.from({ length: Math.min(count, MOST_HOLDS) }, (_, i) => readHoldKey(key, field, i + 1));
    });
    const left: number[] = [];
    for (let i = 0; i < holdKeys.length; i += AT_ONCE) {
      const { remaining } = await lockPeek.run(this.#driver, { locks: holdKeys.slice(i, i + AT_ONCE) }, {});
      left.push(...remaining);
    }
    let next = 0;
    const held = fields.map(([field, count]): Held => {
      if (field.endsWith(':write')) return [field, count, reply.remainingMs];
      const own = left.slice(next, next + Math.min(count, MOST_HOLDS));
      next += own.length;
      return [field, count, longest(own)];
    });
    const mode = reply.mode as 'read' | 'write';
    return this.#sight(ownersOf(held), (known) => ({
      key,
      kind: 'readWrite',
      mode,
      holders: this.#holders(key, held, known),
    }));
  }

  async #permitSemaphore(key: string, ends: string): Promise<Sight> {
    const reply = await inspectPermits.run(this.#driver, { permits: key, ends }, {});
    // It was deleted, or changed into something else, since the first look.
    if (reply.status === 'missing') return this.#sight([], () => ({ key, kind: 'free' }));
    const permits = pairs(reply.list).map(([id, remainingMs]): PermitInfo => {
      return { id, remainingMs: publicMs(remainingMs), heldSince: this.#heldSince(key, id) };
    });
    const { free: freePermits, taken: takenPermits } = reply;
    return this.#sight([], () => ({ key, kind: 'permitSemaphore', freePermits, takenPermits, permits }));
  }

  async #rateLimiter(key: string): Promise<Sight> {
    const reply = await rateLimiterGetConfig.run(this.#driver, { config: key }, {});
    if (reply.status === 'unset') return this.#sight([], () => ({ key, kind: 'free' }));
    const { rate, intervalMs } = reply;
    const isShared = reply.mode === '0';
    const freePermits = isShared ? await this.#freeOf(key) : null;
    const mode = isShared ? 'overall' : 'perClient';
    return this.#sight([], () => ({ key, kind: 'rateLimiter', mode, rate, intervalMs, freePermits }));
  }

  async #freeOf(key: string): Promise<number | null> {
    const [value, history] = [rateValueKey(key), ratePermitsKey(key)];
    const keys = { overallValue: value, overallHistory: history, clientValue: value, clientHistory: history };
    try {
      const reply = await rateLimiterAvailablePermits.run(this.#driver, { config: key, ...keys }, {});
      return reply.status === 'permits' ? reply.count : null;
    } catch {
      // Its history may hold entries of a version that is too old; the rest of the description is right.
      return null;
    }
  }

  #holders(key: string, held: readonly Held[], known: KnownClients): HolderInfo[] {
    return held.map((one) => this.#holder(key, one, known));
  }

  #holder(key: string, [owner, holdCount, remainingMs]: Held, known: KnownClients): HolderInfo {
    const heldSince = this.#heldSince(key, owner) ?? known.heldSince(key, owner);
    return { ...known.owner(owner), holdCount, remainingMs: publicMs(remainingMs), heldSince };
  }
}

function heldOf(reply: { holder: string; holdCount: number; remainingMs: number }): Held[] {
  return reply.holder === '' ? [] : [[reply.holder, reply.holdCount, reply.remainingMs]];
}

function ownersOf(held: readonly Held[]): string[] {
  return held.map(([owner]) => owner);
}

/** Names and numbers alternate. */
function pairs(flat: readonly string[]): (readonly [string, number])[] {
  const found: (readonly [string, number])[] = [];
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', Number(flat[i + 1])]);
  return found;
}

/** A key that has just gone has 0 ms left. */
function publicMs(remainingMs: number): number {
  return remainingMs === NO_EXPIRY_MS ? Number.POSITIVE_INFINITY : Math.max(0, remainingMs);
}

function longest(remaining: readonly number[]): number {
  return remaining.includes(NO_EXPIRY_MS) ? NO_EXPIRY_MS : Math.max(0, ...remaining);
}
