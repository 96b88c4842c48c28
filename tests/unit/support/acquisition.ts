/** An acquisition whose attempts a test answers. */
import { Acquisition } from '../../../src/runtime/acquire.ts';
import type { Waiting } from '../../../src/runtime/protocol.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';

/** `granted`, or for how long it is busy. */
export type Answer = 'granted' | number;

export const MESSAGES: Waiting = { kind: 'messages', channel: 'ch', pollMs: 5_000 };

export interface HandDriven {
  readonly what: string;
  readonly waiting?: Waiting;
  readonly isShared?: boolean;
  readonly isBounded?: boolean;
  attempt(): Promise<Answer>;
  abandon(): void;
  withdraw(): void;
}

/** Gives `it`; or, if an earlier attempt got no answer, `it, in doubt`. */
export class HandDrivenAcquisition extends Acquisition<string, Answer> {
  readonly #hands: HandDriven;

  constructor(runtime: Runtime, line: string | null, hands: HandDriven) {
    super(runtime, line);
    this.#hands = hands;
  }

  get name(): string {
    return this.#hands.what;
  }

  protected get what(): string {
    return this.#hands.what;
  }

  protected get waiting(): Waiting {
    return this.#hands.waiting ?? MESSAGES;
  }

  protected override get isShared(): boolean {
    return this.#hands.isShared ?? false;
  }

  protected override get isBounded(): boolean {
    return this.#hands.isBounded ?? false;
  }

  protected attempt(): Promise<Answer> {
    return this.#hands.attempt();
  }

  protected busyMs(answer: Answer): number | undefined {
    return answer === 'granted' ? undefined : answer;
  }

  protected accept(_: Answer, isDoubtful: boolean): string {
    return isDoubtful ? 'it, in doubt' : 'it';
  }

  protected abandon(): void {
    this.#hands.abandon();
  }

  protected override withdraw(): boolean {
    this.#hands.withdraw();
    return true;
  }
}
