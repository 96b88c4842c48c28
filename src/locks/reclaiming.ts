/**
 * The failover guard of one kind of lock: the kind's reclaim script, and the check, common to all kinds, whether the
 * server is in its grace.
 */
import type { GuardTerms } from '../requests/guard.ts';
import type { Wire } from '../requests/wire.ts';
import type { Claimed, Guarded } from '../runtime/protocol.ts';
import { guardCheck } from '../scripts/generated.ts';

/** The keys and arguments that the reclaim scripts of all kinds of locks share. */
export interface ReclaimTerms {
  readonly guard: { readonly guard: string };
  readonly grace: GuardTerms;
}

export interface Reclaimed {
  readonly status: 'held' | 'taken' | 'lost';
}

type Reclaim = (hold: Claimed, terms: ReclaimTerms) => Promise<Reclaimed>;

/** Undefined where the client, or the lock, has no guard. */
export function guardedBy({ driver, guard }: Wire, key: string, reclaim: Reclaim): Guarded | undefined {
  if (guard === undefined) return undefined;
  return {
    graceMs: guard.graceMs,
    async reclaim(hold) {
      const record = { guard: guard.recordFor(key) };
      return (await reclaim(hold, { guard: record, grace: guard.terms() })).status;
    },
    async isGrace() {
      const reply = await guardCheck.run(driver, { guard: guard.recordFor(key) }, guard.terms());
      if (reply.status === 'grace') guard.saw(key, reply.server);
      return reply.status === 'grace';
    },
  };
}
