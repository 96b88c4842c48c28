/**
 * Who asks: the counterpart of a thread.
 *
 * An owner is an identity in this process. In Redis, each of its tenures has a field of its own,
 * `<client id>:<number>`, with a number that is never used again. What an owner holds already it re-enters.
 *
 * A section is a stretch of code that runs as an owner: the work of a `withLock`, the body of a `scope`.
 * Sections nest along the asynchronous calls. Sections side by side in one owner take turns with a lock,
 * although the lock would let both in; work that outlives its section is a stranger again.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { LocalMutex } from './local-mutex.ts';
import type { Tenure } from './tenure.ts';

/** Hands out the owner fields of one client. */
export class OwnerNumbers {
  readonly #clientId: string;
  #last = 0;

  constructor(clientId: string) {
    this.#clientId = clientId;
  }

  next(): string {
    this.#last += 1;
    return `${this.#clientId}:${this.#last}`;
  }
}

/** What an owner has to do with one lock. */
interface Interest {
  /** Held, or lost and not yet taken back by all its entries. */
  tenure: Tenure | undefined;
  /** Acquiring, re-entering: one after the other, so that the second finds what the first got. */
  readonly gate: LocalMutex<symbol>;
  readonly turns: LocalMutex<Section>;
}

/**
 * Somebody who can hold locks and re-enter them, made by `client.owner()`. It has nothing for users to call:
 * it is passed along as an option.
 */
export class Owner {
  /** @internal */
  readonly clientId: string;
  /** By the identity of the lock; there while there is something to know. */
  readonly #interests = new Map<string, Interest>();

  /** @internal */
  constructor(clientId: string) {
    this.clientId = clientId;
  }

  /** @internal */
  tenureOf(lock: string): Tenure | undefined {
    return this.#interests.get(lock)?.tenure;
  }

  /** @internal Whoever is done with it calls `settle`. */
  interestIn(lock: string): Interest {
    let interest = this.#interests.get(lock);
    if (interest === undefined) {
      interest = {
        tenure: undefined,
        gate: new LocalMutex(() => false),
        turns: new LocalMutex((innermost, section) => section.isInside(innermost)),
      };
      this.#interests.set(lock, interest);
    }
    return interest;
  }

  /** @internal An owner that lives long and takes many locks must not remember them all. */
  settle(lock: string): void {
    const interest = this.#interests.get(lock);
    if (interest?.tenure === undefined && interest?.gate.isIdle && interest.turns.isIdle) {
      this.#interests.delete(lock);
    }
  }
}

export class Section {
  readonly owner: Owner;
  readonly parent: Section | undefined;
  isOver = false;

  constructor(owner: Owner, parent: Section | undefined) {
    this.owner = owner;
    this.parent = parent;
  }

  isInside(other: Section): boolean {
    for (let section = this.parent; section !== undefined; section = section.parent) {
      if (section === other) return true;
    }
    return false;
  }
}

/** Which section the running code is in. */
export class Sections {
  /** Made on first use: the first AsyncLocalStorage makes every await of the process slower. */
  #storage: AsyncLocalStorage<Section> | undefined;

  /** The innermost section that is not over. */
  current(): Section | undefined {
    let section = this.#storage?.getStore();
    while (section?.isOver) section = section.parent;
    return section;
  }

  async run<T>(section: Section, work: () => T | Promise<T>): Promise<T> {
    this.#storage ??= new AsyncLocalStorage();
    try {
      return await this.#storage.run(section, work);
    } finally {
      section.isOver = true;
    }
  }
}
