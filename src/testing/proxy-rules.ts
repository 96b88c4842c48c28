/**
 * The fault proxy's rules for single requests: hold one back, or swallow the reply of one.
 *
 * The first matching request claims a rule, so a repeat of the same command on another connection passes.
 */

/**
 * Selects requests by their text: the command's arguments joined by spaces, its name in capitals, as in `EVALSHA <sha1>
 * 1 my-lock …`. A string matches if the text contains it.
 */
export type RequestMatch = string | RegExp;

/** Whether a request's text matches. */
export function matchesRequest(text: string, match: RequestMatch): boolean {
  // Unlike test(), search() ignores the state of a global expression.
  return typeof match === 'string' ? text.includes(match) : text.search(match) !== -1;
}

/** A request that is held back, or will be. */
export interface HeldRequest {
  /** Resolves when a request has matched and is held; rejects when the proxy is closed before. */
  readonly held: Promise<void>;
  /** Delivers the request and everything behind it, even if the client is gone. Lifts the rule if none has matched. */
  release(): void;
}

function deferred() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // A test that does not use the promise must not fail because of it.
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

  /** Whether the rule claims this request; if so, `deliver` is called on release. */
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

  /** Claims no further request. A pending reply is still swallowed. */
  abandon(why: 'closed' | 'lifted'): void {
    this.#unclaimed = 0;
    const what = why === 'closed' ? 'proxy was closed' : 'rule was lifted';
    this.#deferred.reject(new Error(`The ${what} before a reply to ${this.match} was swallowed`));
  }
}
