/**
 * A guard for what lives in Redis: a value that only the newest token can write.
 */
import { StaleTokenError } from '../errors.ts';
import { checkToken, checkValue } from '../options.ts';
import { persist } from '../runtime/persist.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { fencedRegisterRead, fencedRegisterWrite } from '../scripts/generated.ts';
import type { Wire } from './wire.ts';

/** A value in Redis, written under a fenced lock. */
export interface FencedRegister {
  readonly name: string;
  /**
   * Writes the value, if no newer token has been seen.
   *
   * @throws StaleTokenError when the hold that the token belongs to is not the last one any more
   */
  write(value: string, token: number): Promise<void>;
  /** What was written last and with which token; null when nothing was. */
  read(): Promise<{ readonly value: string; readonly token: number } | null>;
}

export class GuardedRegister implements FencedRegister {
  readonly name: string;
  readonly #runtime: Runtime;
  readonly #wire: Wire;
  readonly #register: string;
  readonly #nextSequence: () => number;

  constructor(runtime: Runtime, wire: Wire, name: string, nextSequence: () => number) {
    this.name = name;
    this.#runtime = runtime;
    this.#wire = wire;
    this.#register = wire.rawName(name);
    this.#nextSequence = nextSequence;
  }

  async write(value: string, token: number): Promise<void> {
    const args = { value: checkValue(value), token: checkToken(token), sequence: this.#nextSequence() };
    const reply = await this.#ask('write', () =>
      fencedRegisterWrite.run(this.#wire.driver, { register: this.#register }, args),
    );
    if (reply.status === 'stale') throw new StaleTokenError(this.name, token, reply.token);
  }

  async read(): Promise<{ readonly value: string; readonly token: number } | null> {
    const reply = await this.#ask('read', () =>
      fencedRegisterRead.run(this.#wire.driver, { register: this.#register }, {}),
    );
    return reply.status === 'empty' ? null : { value: reply.value, token: reply.token };
  }

  #ask<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, commandTimeoutMs } = this.#runtime;
    this.#runtime.assertOpen();
    return persist(clock, commandTimeoutMs, `${verb} "${this.name}"`, call);
  }
}
