/**
 * What the fault proxy does to single requests: hold one back, swallow the reply of one.
 *
 * A rule is claimed by the first request it matches, so that a repeat of the same command on another
 * connection passes.
 */

/**
 * Picks requests by their text: the command's arguments joined by spaces, its name in capitals, as in
 * `EVALSHA <sha1> 1 my-lock …`. A string matches where it is contained.
 */
export type RequestMatch = string | RegExp;

/** Whether a request's text matches. */
export function matchesRequest(text: string, match: RequestMatch): boolean {
  // search() ignores the state that test() keeps in a global expression.
  return typeof match === 'string' ? text.includes(match) : text.search(match) !== -1;
}

/** A request held back, or about to be. */
export interface HeldRequest {
  /** Resolves when a request has matched and is held; rejects when the proxy is closed before. */
  readonly held: Promise<void>;
  /** Delivers the request and everything behind it, even if the client has gone. Lifts the rule otherwise. */
  release(): void;
}

function deferred() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // A test that has no use for the promise must not fail by it.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

export class HoldRule implements HeldRequest {
  readonly #deferred = deferred();
  #deliver: (() => void) | undefined;
  #isOver = false;

  constructor(readonly match: RequestMatch) {}

  get held(): Promise<void> {
    return this.#deferred.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the rule wants this request; if so, `deliver` is called on release. */
  claim(text: string, deliver: () => void): boolean {
    if (this.#isOver || !matchesRequest(text, this.match)) return false;
    this.#isOver = true;
    this.#deliver = deliver;
    this.#deferred.resolve();
    return true;
  }

  release(): void {
    this.#isOver = true;
    this.#deliver?.();
    this.#deliver = undefined;
  }

  abandon(): void {
    this.#isOver = true;
    this.#deferred.reject(new Error(`The proxy was closed before a request matched ${this.match}`));
  }
}

export class SwallowRule {
  readonly #deferred = deferred();
  #unclaimed: number;
  #unswallowed: number;

  constructor(
    readonly match: RequestMatch,
    readonly after: 'reset' | 'silence',
    count: number,
  ) {
    this.#unclaimed = count;
    this.#unswallowed = count;
  }

  get done(): Promise<void> {
    return this.#deferred.promise;
  }

  get isOver(): boolean {
    return this.#unclaimed === 0;
  }

  claim(text: string): boolean {
    if (this.#unclaimed === 0 || !matchesRequest(text, this.match)) return false;
    this.#unclaimed -= 1;
    return true;
  }

  swallowed(): void {
    this.#unswallowed -= 1;
    if (this.#unswallowed === 0) this.#deferred.resolve();
  }

  /** Wants no further request. A reply that is on its way is still swallowed. */
  abandon(why: 'closed' | 'lifted'): void {
    this.#unclaimed = 0;
    const what = why === 'closed' ? 'proxy was closed' : 'rule was lifted';
    this.#deferred.reject(new Error(`The ${what} before a reply to ${this.match} was swallowed`));
  }
}
