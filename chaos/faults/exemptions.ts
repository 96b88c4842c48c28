/**
 * Where promises end. What is listed here is counted, but is no failure; `docs/guarantees.md` says the same to users.
 */
import type { Exemption, Mode } from '../fault.ts';

/** Two holders at once; a holder that is told after another one got in; one that passes on what another one has too. */
const EXCLUSION = ['overlap', 'late-loss', 'owner-reused'] as const;
/** What the guard does not cover, for it is about holds: numbers, and places in a queue. */
const COUNTS = [
  'too-many-permits',
  'not-conserved',
  'latch-opened-early',
  'rate-exceeded',
  'out-of-order',
] as const;

/** The server forgets holds while their holders are alive, and nothing tells the clients that it did. */
export function forgets(why: string): Exemption {
  return { violations: [...EXCLUSION, ...COUNTS], why };
}

/**
 * The server forgets holds, and can be seen to have restarted or to be another one. With the guard it lets only their
 * holders in for a while; semaphores, latches, rate limiters and queues have none.
 */
export function forgetsVisibly(why: string): (mode: Mode) => Exemption {
  return ({ guard }) => ({ violations: guard ? COUNTS : [...EXCLUSION, ...COUNTS], why });
}
