/**
 * A fence for data in Redis: a value that only the newest token can write.
 *
 * The register knows nothing of locks: a holder may give its token to any other writer.
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
   * Writes the value, unless the register has seen a newer token. The same token may write any number of times.
   *
   * @throws StaleTokenError when the register has seen a newer token
   * @throws OutcomeUnknownError when the server did not answer in time; the value may be written now or later
   */
  write(value: string, token: number): Promise<void>;
  /**
   * The value written last, with its token; null when there is none.
   *
   * Pass your token when your next write depends on this value: from then on the register refuses older tokens,
   * so that none of them can change the value between your read and your write.
   *
   * @throws StaleTokenError when a token is given and the register has seen a newer one
   */
  read(token?: number): Promise<{ readonly value: string; readonly token: number } | null>;
}

/** Numbers the writes of one client to all registers: the server can tell a late copy from a new write. */
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
    this.#keys = { register: registerKey(wire.keyOf(name)) };
    this.#writer = writer;
  }

  async write(value: string, token: number): Promise<void> {
    const checked = { value: checkValue(value), token: checkToken(token) };
    // A retry repeats the number of the first try: a copy that comes late changes nothing.
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
    this.#runtime.assertOpen();
    return retry(this.#runtime, `${verb} "${this.name}"`, call);
  }
}
