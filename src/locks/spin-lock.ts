/**
 * How the spin lock waits: it asks again after growing pauses instead of listening for wake-ups.
 *
 * For servers without pub/sub, and for holds so short that a subscription costs more than a few tries.
 * Everything else is the reentrant lock's, on the same keys.
 */
import { OptionError } from '../errors.ts';
import { checkOptions } from '../options/checks.ts';
import type { LockKindOptions } from '../options/client-options.ts';
import type { Waiting } from '../runtime/protocol.ts';

/** The pauses between the tries of a spin lock. */
export type Backoff =
  | {
      kind: 'exponential';
      /** The first pause; 1 ms by default. */
      initialMs?: number | undefined;
      /** The longest pause; 128 ms by default. */
      maxMs?: number | undefined;
      /** The factor by which each pause grows; 2 by default. */
      multiplier?: number | undefined;
    }
  | {
      kind: 'constant';
      /** Every pause; 64 ms by default. */
      delayMs?: number | undefined;
    };

/** How a spin lock behaves. */
export interface SpinLockOptions extends LockKindOptions {
  /** The pauses between its tries; by default they double from 1 ms to 128 ms. */
  backoff?: Backoff | undefined;
}

/** Reads the back-off once; the returned function restarts the pauses for every acquisition. */
export function spinning(backoff: Backoff = { kind: 'exponential' }): () => Waiting {
  if (typeof backoff !== 'object' || backoff === null) {
    throw new OptionError("backoff must be an object whose kind is 'exponential' or 'constant'");
  }
  if (backoff.kind === 'constant') {
    const { delayMs = 64 } = checkOptions('constant', backoff);
    return () => ({ kind: 'spin', nextDelayMs: () => delayMs });
  }
  const { initialMs = 1, maxMs = 128, multiplier = 2 } = checkOptions('exponential', backoff);
  return () => {
    let failures = 0;
    let delayMs = 0;
    const nextDelayMs = () => {
      // A little noise that grows with the failures, so that rivals fall out of step.
      const noiseMs = Math.floor(Math.random() * failures);
      delayMs = failures === 0 ? initialMs : delayMs * multiplier + noiseMs;
      delayMs = Math.min(delayMs, maxMs);
      failures += 1;
      return delayMs;
    };
    return { kind: 'spin', nextDelayMs };
  };
}
