/**
 * Members in the order they came, which leave from anywhere at once.
 *
 * For what comes and goes with every call: a Set that is filled and emptied again and again is allocated anew every few
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

  /** Adds a member at the end; answers its place, by which it is removed. */
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
    // Otherwise whatever keeps a place that was left keeps all that came after it.
    link.previous = undefined;
    link.next = undefined;
  }

  /** The member that is reached may be removed. Where it is the next one, the walk ends there. */
  *[Symbol.iterator](): Generator<T> {
    for (let link = this.#first; link?.isLinked; ) {
      const { next, member }: Link<T> = link;
      yield member;
      link = next;
    }
  }
}
