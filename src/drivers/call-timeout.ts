/**
 * A driver whose every call settles in time, whatever the client library does.
 *
 * The libraries do not ensure that: ioredis has no time-out unless the user sets one, and the time-out of node-redis
 * ends when the command is written, so a frozen server would hang a call forever. A script that is not yet written
 * when its time ends is never written. A script that was written may still run, so its outcome is reported as unknown.
 *
 * Every call passes here, so this driver also reports when a server answers again after a failure: the server may have
 * been replaced meanwhile.
 */

import { type Alarm, type Clock, serverTime } from '../clock.ts';
import { type Link, LinkedList } from '../linked-list.ts';
import { classify, noteError, unansweredCommand } from '../outcome.ts';
import type {
  CallSignal,
  Condition,
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
  Topology,
} from './driver.ts';

/** Observes or refuses calls. */
export interface CallWatch {
  /** A script sent at this time or later asks `refusal` first. */
  readonly dueAt: number;
  /** Why no script may be sent now; undefined when scripts may be sent. */
  refusal(): Error | undefined;
  /** The first answer after a call failed or could not be sent, or after a connection broke. */
  onRecovered(): void;
}

/** Why no script may be sent now. */
export function refusalOf(watch: CallWatch, now: number): Error | undefined {
  return now >= watch.dueAt ? watch.refusal() : undefined;
}

/** The time limit of one call, as a signal that aborts at its end. A real AbortSignal costs 5 µs per call. */
class CallTime implements CallSignal {
  readonly endsAt: number;
  /** Its link in the list of pending calls. */
  place: Link<CallTime> | undefined;
  readonly #clock: Clock;
  readonly #onOver: () => void;
  #listener: (() => void) | undefined;

  constructor(clock: Clock, now: number, timeoutMs: number, onOver: () => void) {
    this.#clock = clock;
    this.endsAt = serverTime(clock, now) + timeoutMs;
    this.#onOver = onOver;
  }

  /** True also after a suspend, before the timer fires. */
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

/** The pending calls, oldest first. All have the same time limit, so one timer is enough. */
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

  /** Watches a call that began at `now`, from the next turn on. */
  begin(time: CallTime, now: number): void {
    if (this.#underWay.isEmpty) this.#alarm.set(this.#timeoutMs, now);
    time.place = this.#underWay.add(time);
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

class CallTimeoutDriver implements Driver {
  readonly library: string;
  readonly topology: Topology;
  readonly writesOnce: boolean;
  readonly keyPrefix: string;
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #times: CallTimes;
  readonly #watch: CallWatch | undefined;
  readonly #connectionName: string | undefined;
  #isTroubled = false;

  constructor(driver: Driver, clock: Clock, timeoutMs: number, watch?: CallWatch, connectionName?: string) {
    this.library = driver.library;
    this.topology = driver.topology;
    this.writesOnce = driver.writesOnce;
    this.keyPrefix = driver.keyPrefix;
    this.#driver = driver;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#times = new CallTimes(clock, timeoutMs);
    this.#watch = watch;
    this.#connectionName = connectionName;
  }

  script(command: ScriptArgument[], _signal?: CallSignal, key?: string): Promise<ScriptReply> {
    return this.#script((signal) => this.#driver.script(command, signal, key));
  }

  nodeOf(key: string): string {
    return this.#driver.nodeOf(key);
  }

  nodes(): readonly string[] {
    return this.#driver.nodes();
  }

  async rediscover(key: string): Promise<void> {
    // If that fails, the caller continues with the known nodes.
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
      // The caller has left and will not close a connection that opens late. One that fails needs no closing.
      () => void opening.then((late) => late.destroy()).catch(() => undefined),
    );
    // For people who read CLIENT LIST. The user's client may have no name, and its library may insist on naming. The
    // connection works without a name too, where the server forbids it.
    if (this.#connectionName !== undefined) {
      connection.send(['client', 'setname', this.#connectionName]).catch(() => undefined);
    }
    return {
      send: (args) => this.#script(() => connection.send(args)),
      subscribe: (channel, kind) => this.#bound(() => connection.subscribe(channel, kind)),
      unsubscribe: (channel, kind) => this.#bound(() => connection.unsubscribe(channel, kind)),
      ping: () => this.#bound(() => connection.ping()),
      destroy: () => connection.destroy(),
    };
  }

  async *scan(pattern: string): AsyncIterable<readonly string[]> {
    const pages = this.#driver.scan(pattern)[Symbol.asyncIterator]();
    for (;;) {
      const step = await this.#bound(() => pages.next());
      if (step.done === true) return;
      yield step.value;
    }
  }

  condition(): Condition | undefined {
    return this.#driver.condition?.();
  }

  close(): Promise<void> {
    return this.#driver.close();
  }

  #script(call: (signal: CallSignal) => Promise<ScriptReply>): Promise<ScriptReply> {
    const now = this.#clock.now();
    const refusal = this.#watch && refusalOf(this.#watch, now);
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
      const time = new CallTime(this.#clock, now, this.#timeoutMs, () => {
        this.#isTroubled = true;
        onTimeout?.();
        reject(unansweredCommand(`the server did not answer within ${this.#timeoutMs} ms`, this.#driver));
      });
      const onError = (error: unknown) => {
        times.end(time);
        this.#isTroubled ||= classify(error) !== 'refused';
        noteError(error, this.#driver);
        reject(error);
      };
      try {
        const called = call(time);
        // Only now: the server need not wait for it.
        times.begin(time, now);
        // Both handlers stay attached after a time-out, so that a late rejection counts as handled.
        called.then((value) => {
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

/**
 * Decorates a driver so that every call settles within `timeoutMs`.
 *
 * @param connectionName the name for connections that the driver opens, unless their library gives them one
 */
export function withCallTimeout(
  driver: Driver,
  clock: Clock,
  timeoutMs: number,
  watch?: CallWatch,
  connectionName?: string,
): Driver {
  return new CallTimeoutDriver(driver, clock, timeoutMs, watch, connectionName);
}
