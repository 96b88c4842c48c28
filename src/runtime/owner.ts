/**
 * Owners: the counterpart of threads.
 *
 * An owner is an identity in this process. In Redis, each of its tenures has a separate field,
 * `<client id>:<number>`, with a number that is never used again. An owner re-enters a lock that it holds.
 *
 * A section is code that runs as an owner: the callback of a `withLock`, the body of a `scope`. Sections
 * nest along the asynchronous calls. Parallel sections of one owner take turns with a lock, although the
 * lock would let both in. Code that outlives its section no longer runs as its owner.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isBranded } from '../package-copies.ts';
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

/** The state of an owner for one lock. */
interface Interest {
  /** Held, or lost and not yet left by all its entries. */
  tenure: Tenure | undefined;
  /** Acquires and re-entries run one at a time, so that the second finds the first one's tenure. */
  readonly gate: LocalMutex<symbol>;
  readonly turns: LocalMutex<Section>;
}

const BRAND = Symbol.for('holdfast.owner');

/** Whether this is an owner, made by any copy of this package. */
export function isOwner(value: unknown): value is Owner {
  return isBranded(value, BRAND);
}

/**
 * An identity that can hold locks and re-enter them, made by `client.owner()`. It has no methods for users:
 * pass it as an option.
 */
export class Owner {
  /** @internal */
  readonly clientId: string;
  /** By lock identity; kept only while there is state to remember. */
  readonly #interests = new Map<string, Interest>();
  /** An owner belongs to one client; these represent it on the others. */
  #counterparts: Map<string, Owner> | undefined;

  /** @internal */
  constructor(clientId: string) {
    this.clientId = clientId;
  }

  /** @internal On the prototype: owners are made for every section. */
  get [BRAND](): true {
    return true;
  }

  /** @internal The owner that represents this one on a client. */
  on(clientId: string): Owner {
    if (clientId === this.clientId) return this;
    this.#counterparts ??= new Map();
    const counterpart = this.#counterparts.get(clientId) ?? new Owner(clientId);
    this.#counterparts.set(clientId, counterpart);
    return counterpart;
  }

  /** @internal */
  tenureOf(lock: string): Tenure | undefined {
    return this.#interests.get(lock)?.tenure;
  }

  /** @internal Everything it holds, or has lost and not left. */
  tenures(): Tenure[] {
    return [...this.#interests.values()].flatMap(({ tenure }) => tenure ?? []);
  }

  /** @internal The caller calls `forgetIfIdle` when done. */
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
  forgetIfIdle(lock: string): void {
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

/** The clients of this process that have run sections and are not closed. */
const withSections = new Set<Sections>();

/** Which section of a client the running code is in. */
export class Sections {
  /** Made on first use: the first AsyncLocalStorage makes every await of the process slower. */
  #storage: AsyncLocalStorage<Section> | undefined;

  /** The innermost section that is not over. */
  current(): Section | undefined {
    let section = this.#storage?.getStore();
    while (section?.isOver) section = section.parent;
    return section;
  }

  /** The owners as which the running code is in sections of other clients; undefined where no other client has any. */
  elsewhere(): Owner[] | undefined {
    if (withSections.size === 0 || (withSections.size === 1 && withSections.has(this))) return undefined;
    return [...withSections].flatMap((other) => (other === this ? [] : (other.current()?.owner ?? [])));
  }

  /** The client is closed. */
  close(): void {
    withSections.delete(this);
  }

  async run<T>(section: Section, work: () => T | Promise<T>): Promise<T> {
    this.#storage ??= new AsyncLocalStorage();
    withSections.add(this);
    try {
      return await this.#storage.run(section, work);
    } finally {
      section.isOver = true;
    }
  }
}
