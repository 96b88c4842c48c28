/**
 * A fence for what lives in Redis: a value that only the newest token can write.
 *
 * It knows nothing of locks: whoever brings a token may be anybody that a holder gave it to.
 */
import { StaleTokenError } from '../errors.ts';
import { registerKey } from '../keys.ts';
import { checkToken, checkValue } from '../options/checks.ts';
import type { Wire } from '../requests/wire.ts';
import { retry } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { fencedRegisterClaim, fencedRegisterRead, fencedRegisterWrite } from '../scripts/generated.ts';

/** A value in Redis, written under a fenced lock. */
export interface FencedRegister {
  readonly name: string;
  /**
   * Writes the value, if no newer token has been seen. The same token may write as often as it likes.
   *
   * @throws StaleTokenError when a later hold has been here
   * @throws OutcomeUnknownError when the server did not answer in time; it may be written then, or yet be
   */
  write(value: string, token: number): Promise<void>;
  /**
   * What was written last and with which token; null when nothing was.
   *
   * Pass your token when you are going to write what you make of the value: from then on older tokens are
   * refused, so that nothing can change between your reading and your writing.
   *
   * @throws StaleTokenError when a token is given and a later hold has been here
   */
  read(token?: number): Promise<{ readonly value: string; readonly token: number } | null>;
}

/** Numbers what one client writes, in whichever register: what arrives late can be told from what is new. */
export class RegisterWriter {
  readonly id: string;
  #last = 0;

  constructor(id: string) {
    this.id = id;
  }

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}

export class RedisFencedRegister implements FencedRegister {
  readonly name: string;
  readonly #runtime: Runtime;
  readonly #wire: Wire;
  readonly #keys: { readonly register: string };
  readonly #writer: RegisterWriter;

  constructor(runtime: Runtime, wire: Wire, name: string, writer: RegisterWriter) {
    this.name = name;
    this.#runtime = runtime;
    this.#wire = wire;
    this.#keys = { register: registerKey(wire.rawName(name)) };
    this.#writer = writer;
  }

  async write(value: string, token: number): Promise<void> {
    const checked = { value: checkValue(value), token: checkToken(token) };
    // Numbered once and repeated under that number: a copy that comes late changes nothing.
    const args = { ...checked, writer: this.#writer.id, sequence: this.#writer.next() };
    const reply = await this.#ask('write', () =>
      fencedRegisterWrite.run(this.#wire.driver, this.#keys, args),
    );
    if (reply.status === 'stale') throw new StaleTokenError(this.name, token, reply.token);
  }

  async read(token?: number): Promise<{ readonly value: string; readonly token: number } | null> {
    const reply = await (token === undefined ? this.#look() : this.#claim(checkToken(token)));
    return reply.status === 'empty' ? null : { value: reply.value, token: reply.token };
  }

  #look() {
    return this.#ask('read', () => fencedRegisterRead.run(this.#wire.driver, this.#keys, {}));
  }

  async #claim(token: number) {
    const reply = await this.#ask('read', () =>
      fencedRegisterClaim.run(this.#wire.driver, this.#keys, { token }),
    );
    if (reply.status === 'stale') throw new StaleTokenError(this.name, token, reply.token);
    return reply;
  }

  #ask<T>(verb: string, call: () => Promise<T>): Promise<T> {
    const { clock, commandTimeoutMs } = this.#runtime;
    this.#runtime.assertOpen();
    return retry(clock, commandTimeoutMs, `${verb} "${this.name}"`, call);
  }
}
