/**
 * The public read/write lock: two locks of one name, for many readers or one writer.
 *
 * Both sides are a `ProtocolLock`, each with its protocol. Their commands are in `read-write-protocol.ts`.
 */

import { checkOptions } from '../options/checks.ts';
import type { LockKindOptions } from '../options/client-options.ts';
import type { Wire } from '../requests/wire.ts';
import type { Renew } from '../runtime/protocol.ts';
import { retry } from '../runtime/retry.ts';
import { readWriteLockHolders } from '../scripts/generated.ts';
import { tenuresOf } from './force-unlock.ts';
import type { Lock } from './lock.ts';
import type { LockContext } from './lock-context.ts';
import { ProtocolLock } from './protocol-lock.ts';
import { ReadProtocol } from './read-protocol.ts';
import { WriteProtocol, type WriteStyle } from './write-protocol.ts';

/** How one read/write lock behaves. */
export interface ReadWriteLockOptions extends LockKindOptions {
  /**
   * `'writer'`: while a writer of this lock object waits, new readers of every holdfast client wait too, so that
   * a stream of readers cannot starve the writer. Left out, a new reader joins the present readers at once.
   */
  prefer?: 'writer' | undefined;
}

/**
 * Many owners may read at once, or one may write.
 *
 * @example
 * ```ts
 * const catalogue = client.getReadWriteLock('catalogue');
 * await catalogue.readLock().withLock(() => console.log('others may read too'));
 * await catalogue.writeLock().withLock(() => console.log('no other owner is here'));
 * ```
 */
export interface ReadWriteLock {
  readonly name: string;
  /** The shared side. An owner that takes it inside its write lock keeps it when it releases the write lock. */
  readLock(): Lock;
  /** The exclusive side. An owner that only reads gets a `ReentryError`: it would wait for itself. */
  writeLock(): Lock;
}

/** How the two sides renew; made once for each client. */
export interface ReadWriteRenewals {
  readonly read: Renew;
  readonly write: Renew;
}

export class ProtocolReadWriteLock implements ReadWriteLock {
  readonly name: string;
  readonly #context: LockContext;
  readonly #wire: Wire;
  readonly #renewals: ReadWriteRenewals;
  readonly #preferred: boolean;

  constructor(
    context: LockContext,
    wire: Wire,
    name: string,
    renewals: ReadWriteRenewals,
    options?: unknown,
  ) {
    const { prefer } = checkOptions('readWriteLock', options);
    this.name = name;
    this.#context = context;
    this.#wire = wire;
    this.#renewals = renewals;
    this.#preferred = prefer === 'writer';
  }

  readLock(): Lock {
    const protocol = new ReadProtocol(this.#wire, this.name, this.#renewals.read);
    return new ProtocolLock(this.#context, protocol, { reentrant: true, shared: true });
  }

  writeLock(): Lock {
    return this.#writeLock({ preferred: this.#preferred });
  }

  /** The owner fields of all holders of either side, in any client. */
  async holders(): Promise<readonly string[]> {
    const { runtime } = this.#context;
    runtime.assertOpen();
    const ask = () => readWriteLockHolders.run(this.#wire.driver, { lock: this.#wire.keyOf(this.name) }, {});
    const reply = await retry(runtime, `describe "${this.name}"`, ask);
    return reply.status === 'free' ? [] : reply.holders;
  }

  /**
   * The exclusive side, taken from its holders. Holders in this client learn of it before the thief gets its hold, but
   * after the server has taken the lock from them: a waiter could get a lock that they release earlier.
   */
  stolenLock(): Lock {
    const { runtime } = this.#context;
    const key = this.#wire.keyOf(this.name);
    const onStolen = (thief: string) => {
      // Only the thief holds the lock: every other hold of this client ended just now or earlier.
      for (const tenure of tenuresOf(runtime, key)) if (tenure.owner !== thief) tenure.lose('forced');
    };
    return this.#writeLock({ onStolen });
  }

  #writeLock(style: WriteStyle): Lock {
    const protocol = new WriteProtocol(this.#wire, this.name, this.#renewals.write, style);
    return new ProtocolLock(this.#context, protocol, { reentrant: true });
  }
}
