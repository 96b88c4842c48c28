/** A driver whose dedicated connections carry commands that a test answers by hand. */
import type {
  Connection,
  ConnectionEvents,
  Driver,
  ScriptArgument,
  ScriptReply,
} from '../../../src/drivers/driver.ts';
import { type Deferred, defer } from './deferred.ts';

export interface Sent {
  readonly args: readonly ScriptArgument[];
  readonly answer: Deferred<ScriptReply>;
}

/** Commands sent on it are noted in order, and stay unanswered until the test answers them. */
export class CarryingConnection implements Connection {
  readonly node: string;
  readonly events: ConnectionEvents;
  readonly sent: Sent[] = [];
  isDestroyed = false;

  constructor(node: string, events: ConnectionEvents) {
    this.node = node;
    this.events = events;
  }

  /** What was sent, without the keys and arguments of scripts. */
  get log(): string[] {
    return this.sent.map(({ args }) => args.slice(0, args[0] === 'WAIT' ? 3 : 2).join(' '));
  }

  /** The commands that came after so many others, to be answered. */
  answer(position: number): Deferred<ScriptReply> {
    const found = this.sent[position];
    if (found === undefined) throw new Error(`only ${this.log.join(', ')} was sent`);
    return found.answer;
  }

  send(args: readonly ScriptArgument[]): Promise<ScriptReply> {
    const answer = defer<ScriptReply>();
    this.sent.push({ args, answer });
    return answer.promise;
  }

  async subscribe(): Promise<never> {
    throw new Error('this connection subscribes to nothing');
  }

  async unsubscribe(): Promise<never> {
    throw new Error('this connection subscribes to nothing');
  }

  async ping(): Promise<void> {}

  destroy(): void {
    this.isDestroyed = true;
  }
}

export class CarryingDriver implements Driver {
  readonly library = 'hand-driven';
  readonly writesOnce = true;
  readonly topology = 'cluster';
  readonly keyPrefix = '';
  readonly opened: CarryingConnection[] = [];
  /** What the next openings reject with, one after the other. */
  readonly failures: unknown[] = [];
  readonly rediscovered: string[] = [];
  /** What was run without a connection of its own. */
  readonly run: string[] = [];
  /** What a script is answered that is run so. */
  reply: (sha1: string, keys: readonly string[], args: readonly ScriptArgument[]) => Promise<ScriptReply> =
    async () => {
      throw new Error('nothing was to be run without a connection of its own');
    };
  /** Where each key has its home; by default on `A`. */
  readonly homes = new Map<string, string>();

  /** The connection opened last. */
  get connection(): CarryingConnection {
    const last = this.opened.at(-1);
    if (last === undefined) throw new Error('no connection was opened');
    return last;
  }

  nodeOf(key: string): string {
    return this.homes.get(key) ?? 'A';
  }

  nodes(): string[] {
    return ['A'];
  }

  async rediscover(key: string): Promise<void> {
    this.rediscovered.push(key);
  }

  async openConnection(node: string, events: ConnectionEvents): Promise<Connection> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const connection = new CarryingConnection(node, events);
    this.opened.push(connection);
    return connection;
  }

  script([name, script, numberOfKeys, ...rest]: readonly ScriptArgument[]): Promise<ScriptReply> {
    if (name !== 'evalsha') throw new Error('scripts are known here by their digest');
    const count = Number(numberOfKeys);
    this.run.push(String(script));
    return this.reply(String(script), rest.slice(0, count).map(String), rest.slice(count));
  }

  async *scan(): AsyncIterable<readonly string[]> {}

  async close(): Promise<void> {}
}
