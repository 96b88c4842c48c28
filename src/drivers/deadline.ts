/**
 * A driver whose every call settles in time, whatever the client library does.
 *
 * The libraries do not help here: ioredis has no time-out unless its user set one, and that of node-redis
 * ends when the command is written, so a frozen server would hang a call without end. A script that still waits to
 * be written when its time is over is not written any more. One that was written may still run, which is why
 * the outcome is reported as unknown.
 *
 * Being where every call passes, it also tells when a server answers again after trouble, which is when it may
 * have become another one.
 */

import { type Alarm, type Clock, serverTime } from '../clock.ts';
import { OutcomeUnknownError } from '../errors.ts';
import { type Link, LinkedList } from '../linked-list.ts';
import { classify } from '../outcome.ts';
import type {
  CallSignal,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  Topology,
} from './driver.ts';

/** Who watches over the calls. */
export interface CallWatch {
  /** Why no script is to be sent now; undefined when that is all right. */
  refusal(now: number): Error | undefined;
  /** A call was answered, for the first time since one was not, or could not be sent, or a connection broke. */
  onRecovered(): void;
}

/** The time of one call; as a signal it aborts when that is over. A real AbortSignal costs 5 µs for every call. */
class CallTime implements CallSignal {
  readonly endsAt: number;
  /** Its place among the calls under way. */
  place: Link<CallTime> | undefined;
  readonly #clock: Clock;
  readonly #onOver: () => void;
  #listener: (() => void) | undefined;

  constructor(clock: Clock, now: number, timeoutMs: number, onOver: () => void) {
    this.#clock = clock;
    this.endsAt = serverTime(clock, now) + timeoutMs;
    this.#onOver = onOver;
  }

  /** Also after a suspend, before the timer fires. */
  get aborted(): boolean {
    return serverTime(this.#clock) >= this.endsAt;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }

  over(): void {
    this.#listener?.();
    this.#onOver();
  }
}

/** The calls that are under way, oldest first. All have the same time, so that one timer does for all of them. */
class CallTimes {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #alarm: Alarm;
  readonly #underWay = new LinkedList<CallTime>();

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#alarm = clock.alarm(() => this.#look());
  }

  begin(now: number, onOver: () => void): CallTime {
    const time = new CallTime(this.#clock, now, this.#timeoutMs, onOver);
    if (this.#underWay.isEmpty) this.#alarm.set(this.#timeoutMs, now);
    time.place = this.#underWay.add(time);
    return time;
  }

  /** The call has been answered. */
  end(time: CallTime): void {
    if (time.place !== undefined) this.#underWay.remove(time.place);
    if (this.#underWay.isEmpty) this.#alarm.rest();
  }

  #look(): void {
    const readAt = this.#clock.now();
    const now = serverTime(this.#clock, readAt);
    for (let time = this.#underWay.first; time !== undefined; time = this.#underWay.first) {
      if (time.endsAt > now) {
        this.#alarm.set(time.endsAt - now, readAt);
        return;
      }
      this.end(time);
      time.over();
    }
  }
}

class DeadlineDriver implements Driver {
  readonly library: string;
  readonly topology: Topology;
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #times: CallTimes;
  readonly #watch: CallWatch | undefined;
  #isTroubled = false;

  constructor(driver: Driver, clock: Clock, timeoutMs: number, watch?: CallWatch) {
    this.library = driver.library;
    this.topology = driver.topology;
    this.writesOnce = driver.writesOnce;
    this.keyPrefix = driver.keyPrefix;
    this.#driver = driver;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#times = new CallTimes(clock, timeoutMs);
    this.#watch = watch;
  }

  eval(source: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#script((signal) => this.#driver.eval(source, keys, args, signal));
  }

  evalSha(sha1: string, keys: readonly string[], args: readonly ScriptArgument[]): Promise<ScriptReply> {
    return this.#script((signal) => this.#driver.evalSha(sha1, keys, args, signal));
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

  #script(call: (signal: CallSignal) => Promise<ScriptReply>): Promise<ScriptReply> {
    const now = this.#clock.now();
    const refusal = this.#watch?.refusal(now);
    return refusal === undefined ? this.#boundFrom(now, call) : Promise.reject(refusal);
  }

  #answered(): void {
    if (!this.#isTroubled) return;
    this.#isTroubled = false;
    this.#watch?.onRecovered();
  }

  #bound<T>(call: () => Promise<T>, onTimeout?: () => void): Promise<T> {
    return this.#boundFrom(this.#clock.now(), call, onTimeout);
  }

  #boundFrom<T>(now: number, call: (signal: CallSignal) => Promise<T>, onTimeout?: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const times = this.#times;
      const time = times.begin(now, () => {
        this.#isTroubled = true;
        onTimeout?.();
        reject(new OutcomeUnknownError(`No answer from the server within ${this.#timeoutMs} ms`));
      });
      const onError = (error: unknown) => {
        times.end(time);
        this.#isTroubled ||= classify(error) !== 'refused';
        reject(error);
      };
      try {
        // Both handlers stay attached after a time-out: a late rejection is nobody's business any more.
        call(time).then((value) => {
          times.end(time);
          this.#answered();
          resolve(value);
        }, onError);
      } catch (error) {
        onError(error);
      }
    });
  }
}

/** Decorates a driver so that every call settles within `timeoutMs`. */
export function withDeadline(driver: Driver, clock: Clock, timeoutMs: number, watch?: CallWatch): Driver {
  return new DeadlineDriver(driver, clock, timeoutMs, watch);
}
