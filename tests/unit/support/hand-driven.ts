/** A driver whose subscriber connections a test drives by hand. It runs no scripts. */
import type { Connection, ConnectionEvents, Driver } from '../../../src/drivers/driver.ts';
import { type Deferred, defer } from './deferred.ts';

/** A request that waits for the test to answer it. */
export interface Asked {
  /** For example `subscribe a`, `ping`. */
  readonly what: string;
  readonly answer: Deferred<void>;
}

export class HandDrivenConnection implements Connection {
  readonly asked: Asked[] = [];
  readonly events: ConnectionEvents;
  isDestroyed = false;
  /** While set, requests are answered at once. */
  answersAtOnce = false;

  constructor(events: ConnectionEvents) {
    this.events = events;
  }

  /** What was asked, in order. */
  get log(): string[] {
    return this.asked.map(({ what }) => what);
  }

  /** The latest request of that text. */
  request(what: string): Deferred<void> {
    const found = this.asked.findLast((asked) => asked.what === what);
    if (found === undefined) throw new Error(`${what} was not asked, but ${this.log.join(', ')}`);
    return found.answer;
  }

  subscribe(channel: string): Promise<void> {
    return this.#ask(`subscribe ${channel}`);
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#ask(`unsubscribe ${channel}`);
  }

  async send(): Promise<never> {
    throw new Error('this connection sends nothing');
  }

  ping(): Promise<void> {
    return this.#ask('ping');
  }

  destroy(): void {
    this.isDestroyed = true;
  }

  #ask(what: string): Promise<void> {
    const answer = defer();
    this.asked.push({ what, answer });
    if (this.answersAtOnce) answer.resolve();
    return answer.promise;
  }
}

export class HandDrivenDriver implements Driver {
  readonly library = 'hand-driven';
  readonly writesOnce = true;
  readonly topology = 'standalone';
  readonly keyPrefix = '';
  readonly opened: HandDrivenConnection[] = [];
  /** What the next openings reject with, one after the other. */
  readonly failures: unknown[] = [];
  /** While set, an opening waits for it. */
  opening: Promise<void> | undefined;
  /** Whether connections answer by themselves from the start. */
  answersAtOnce = false;
  /** How often a connection was asked for. */
  openings = 0;
  isClosed = false;

  /** The connection opened last. */
  get connection(): HandDrivenConnection {
    const last = this.opened.at(-1);
    if (last === undefined) throw new Error('no connection was opened');
    return last;
  }

  async openConnection(_node: string, events: ConnectionEvents): Promise<Connection> {
    this.openings += 1;
    await this.opening;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const connection = new HandDrivenConnection(events);
    connection.answersAtOnce = this.answersAtOnce;
    this.opened.push(connection);
    return connection;
  }

  nodeOf(): string {
    return '';
  }

  nodes(): string[] {
    return [''];
  }

  async rediscover(): Promise<void> {}

  async script(): Promise<never> {
    throw new Error('this driver runs no scripts');
  }

  async *scan(): AsyncIterable<readonly string[]> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
