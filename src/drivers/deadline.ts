/**
 * A driver whose every call settles in time, whatever the client library does.
 *
 * The libraries do not help here: ioredis has no time-out unless its user set one, and that of node-redis
 * ends when the command is written, so a frozen server would hang a call for ever. Nothing is cancelled:
 * a command that timed out may still run, which is why it is reported as an unknown outcome.
 *
 * Being where every call passes, it also tells when a server answers again after trouble, which is when it may
 * have become another one.
 */
import { OutcomeUnknownError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type {
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  Topology,
} from './driver.ts';
import { classify } from './outcome.ts';

/** Who watches over the calls. */
export interface CallWatch {
  /** Why no script is to be sent; undefined when that is all right. */
  refusal(): Error | undefined;
  /** A call was answered, for the first time since one was not, or could not be sent, or a connection broke. */
  onRecovered(): void;
}

class DeadlineDriver implements Driver {
  readonly library: string;
  readonly topology: Topology;
  readonly keyPrefix: string;
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #watch: CallWatch | undefined;
  #isTroubled = false;

  constructor(driver: Driver, clock: Clock, timeoutMs: number, watch?: CallWatch) {
    this.library = driver.library;
    this.topology = driver.topology;
    this.keyPrefix = driver.keyPrefix;
    this.#driver = driver;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#watch = watch;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#script(() => this.#driver.eval(source, keys, args));
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#script(() => this.#driver.evalSha(sha1, keys, args));
  }

  nodeOf(key: string): string {
    return this.#driver.nodeOf(key);
  }

  nodes(): readonly string[] {
    return this.#driver.nodes();
  }

  async rediscover(key: string): Promise<void> {
    // Found out or not: who asked goes on with what is known by then.
    await this.#bound(() => this.#driver.rediscover(key)).catch(() => undefined);
  }

  async openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    const opening = this.#driver.openConnection(node, {
      onMessage: (channel, message) => events.onMessage(channel, message),
      onDown: (reason) => {
        this.#isTroubled = true;
        events.onDown(reason);
      },
    });
    const connection = await this.#bound(
      () => opening,
      // Nobody would ever close a connection that opens after its caller has left; one that fails needs no closing.
      () => void opening.then((late) => late.destroy()).catch(() => undefined),
    );
    return {
      send: (args) => this.#script(() => connection.send(args)),
      subscribe: (channel, kind) => this.#bound(() => connection.subscribe(channel, kind)),
      unsubscribe: (channel, kind) => this.#bound(() => connection.unsubscribe(channel, kind)),
      ping: () => this.#bound(() => connection.ping()),
      destroy: () => connection.destroy(),
    };
  }

  async *scan(pattern: string): AsyncIterable<string> {
    const keys = this.#driver.scan(pattern)[Symbol.asyncIterator]();
    for (;;) {
      const step = await this.#bound(() => keys.next());
      if (step.done === true) return;
      yield step.value;
    }
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  #script(call: () => Promise<ScriptReply>): Promise<ScriptReply> {
    const refusal = this.#watch?.refusal();
    return refusal === undefined ? this.#bound(call) : Promise.reject(refusal);
  }

  #answered(): void {
    if (!this.#isTroubled) return;
    this.#isTroubled = false;
    this.#watch?.onRecovered();
  }

  #bound<T>(call: () => Promise<T>, onTimeout?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      // Called before the timer is set, so that a call that throws leaves none behind.
      const answer = call();
      const cancel = this.#clock.after(this.#timeoutMs, () => {
        this.#isTroubled = true;
        onTimeout?.();
        reject(new OutcomeUnknownError(`No answer from the server within ${this.#timeoutMs} ms`));
      });
      // Both handlers stay attached after a time-out: a late rejection is nobody's business any more.
      answer.then(
        (value) => {
          cancel();
          this.#answered();
          resolve(value);
        },
        (error: unknown) => {
          cancel();
          this.#isTroubled ||= classify(error) !== 'refused';
          reject(error);
        },
      );
    });
  }
}

/** Decorates a driver so that every call settles within `timeoutMs`. */
export function withDeadline(driver: Driver, clock: Clock, timeoutMs: number, watch?: CallWatch): Driver {
  return new DeadlineDriver(driver, clock, timeoutMs, watch);
}
