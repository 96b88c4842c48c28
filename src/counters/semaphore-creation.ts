/**
 * Creates a semaphore that does not exist, if the code says with how many permits, and warns if it does not say.
 *
 * An acquisition asks first: only the answer that the semaphore is missing costs further commands, at first and when the
 * key has vanished. An existing semaphore keeps its number, because the code of a new version runs beside that of the
 * old one: each would undo what the other sets. The number is compared once, in the background.
 */
import type { SemaphoreCounter } from './semaphore-counter.ts';

/** How a semaphore is set up. */
export interface SemaphoreOptions {
  /**
   * Creates the semaphore with this many permits if it does not exist. An existing semaphore keeps its number, and the
   * client warns if it can tell that the number is another one.
   */
  permits?: number | undefined;
}

/** The number of permits a semaphore has, as far as the server knows, and what to call to change it. */
export interface Difference {
  readonly actual: string;
  readonly remedy: string;
}

export class SemaphoreCreation {
  readonly #counter: SemaphoreCounter;
  readonly #permits: number | undefined;
  readonly #compare: (permits: number) => Promise<Difference | null>;
  #creating: Promise<void> | undefined;

  /** @param compare looks whether the semaphore has this number of permits: null when it may well have */
  constructor(
    counter: SemaphoreCounter,
    permits: number | undefined,
    compare: (permits: number) => Promise<Difference | null>,
  ) {
    this.#counter = counter;
    this.#permits = permits;
    this.#compare = compare;
  }

  /** Whether it creates the semaphore. */
  get creates(): boolean {
    return this.#permits !== undefined;
  }

  /**
   * Makes an attempt to acquire. If the semaphore is missing, creates it and makes another.
   *
   * @param again makes the attempt after the creation
   */
  attempt<A extends { readonly status: string }>(
    first: () => Promise<A>,
    again: () => Promise<A>,
  ): Promise<A> {
    const asked = first();
    if (this.#permits === undefined) return asked;
    return asked.then((answer) => {
      if (answer.status === 'missing') return this.#create().then(again);
      this.#met();
      return answer;
    });
  }

  /** Makes sure that the semaphore exists, unless this client has met it before. */
  async ensure(): Promise<void> {
    if (this.#permits !== undefined && !this.#counter.context.oncePerName.has(this.#note))
      await this.#create();
  }

  /** An acquisition found no semaphore. The caller goes on waiting: another client may create the semaphore. */
  missing(): void {
    const { context, name, identity } = this.#counter;
    if (this.creates || !context.oncePerName.add(`missing ${identity}`)) return;
    context.runtime.report('warning', {
      code: 'HOLDFAST_NOT_SET_UP',
      name,
      message:
        `The semaphore "${name}" does not exist (never set up, expired or deleted), and callers wait for its permits: ` +
        'call trySetPermits(n) once, or get the semaphore with { permits: n }',
    });
  }

  get #note(): string {
    return `met ${this.#counter.identity} ${this.#permits}`;
  }

  /** All callers that find it missing at the same time share one request. */
  #create(): Promise<void> {
    this.#creating ??= this.#trySet().finally(() => {
      this.#creating = undefined;
    });
    return this.#creating;
  }

  async #trySet(): Promise<void> {
    if (await this.#counter.trySetPermits(this.#permits as number))
      this.#counter.context.oncePerName.add(this.#note);
    else this.#met();
  }

  /** The semaphore exists, and another client may have created it: compares the numbers, the first time. */
  #met(): void {
    if (this.#counter.context.oncePerName.add(this.#note)) void this.#warnIfDifferent();
  }

  async #warnIfDifferent(): Promise<void> {
    const { context, name } = this.#counter;
    const permits = this.#permits as number;
    try {
      const difference = await this.#compare(permits);
      if (difference === null) return;
      const { actual, remedy } = difference;
      context.runtime.report('warning', {
        code: 'HOLDFAST_PERMITS_DIFFER',
        name,
        message:
          `The semaphore "${name}" has ${actual} permits and keeps them; the code says { permits: ${permits} }, ` +
          `which only creates a semaphore. To change the number, call ${remedy}`,
      });
    } catch {
      // No answer: the next call looks again.
      context.oncePerName.delete(this.#note);
    }
  }
}
