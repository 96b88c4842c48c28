/**
 * Members in order of arrival, with removal from anywhere in constant time.
 *
 * For members that come and go with every call: a Set that is filled and emptied repeatedly is reallocated every few
 * times.
 */

/** The place of one member. */
export class Link<T> {
  readonly member: T;
  previous: Link<T> | undefined;
  next: Link<T> | undefined;
  isLinked = true;

  constructor(member: T, previous: Link<T> | undefined) {
    this.member = member;
    this.previous = previous;
  }
}

export class LinkedList<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  get first(): T | undefined {
    return this.#first?.member;
  }

  /** Adds a member at the end; returns its place, for `remove`. */
  add(member: T): Link<T> {
    const link = new Link(member, this.#last);
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    return link;
  }

  /** Removing a member twice is harmless. */
  remove(link: Link<T>): void {
    if (!link.isLinked) return;
    link.isLinked = false;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // Otherwise a reference to a removed place retains all that came after it.
    link.previous = undefined;
    link.next = undefined;
  }

  /** The current member may be removed. If the next one is removed, the iteration ends there. */
  *[Symbol.iterator](): Generator<T> {
    for (let link = this.#first; link?.isLinked; ) {
      const { next, member }: Link<T> = link;
      yield member;
      link = next;
    }
  }
}
