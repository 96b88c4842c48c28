/**
 * Learns from the Sentinels which server is the primary, and reports when another server becomes the primary.
 *
 * The watch subscribes to each Sentinel on a separate connection. It asks for the address after every subscription,
 * after every switch message, and at intervals: a missed message delays the news but does not lose it. The watch
 * reconnects to a Sentinel that does not answer; the others are enough meanwhile. How to connect, and how to react to a
 * switch, is left to the driver.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { reconnectDelayMs } from './connect-settings.ts';
import type { Connection, ConnectionEvents, ScriptReply } from './driver.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface SentinelWatchSettings {
  /** The Sentinels' name for the primary. */
  readonly name: string;
  readonly sentinels: readonly Place[];
  /** The address to use for a Sentinel that another one announces; undefined to use only the listed Sentinels. */
  readonly placeOf: ((named: Place) => Place) | undefined;
  /** Connects to a Sentinel. A command that is not answered in time breaks the connection. */
  open(sentinel: Place, events: ConnectionEvents): Promise<Connection>;
  /** Another server became the primary. */
  onSwitched(primary: Place): void;
}

/** A Sentinel's last answer. The epoch rises with every failover: a higher epoch is newer information. */
interface Answer extends Place {
  readonly epoch: number;
}

const CHANNEL = '+switch-master';

/** How often to ask a Sentinel that has sent no message. */
const ASK_EVERY_MS = 10_000;

/** The same for a Sentinel that refuses subscriptions. */
const ASK_OFTEN_MS = 500;

const UNHEARD: ConnectionEvents = { onMessage() {}, onDown() {} };

const keyOf = ({ host, port }: Place) => `${host}:${port}`;

/** Sentinels answer with flat lists of names and values. */
function fieldOf(reply: ScriptReply, name: string): string {
  const at = Array.isArray(reply) ? reply.indexOf(name) : -1;
  return at < 0 ? '' : String((reply as ScriptReply[])[at + 1]);
}

export class SentinelWatch {
  readonly #settings: SentinelWatchSettings;
  readonly #listed: ReadonlySet<string>;
  /** End the session with each Sentinel. */
  readonly #sessions = new Map<string, () => void>();
  /** By Sentinel, the newest answer last. */
  readonly #answers = new Map<string, Answer>();
  /** Settles when one Sentinel has answered, or when all listed ones have failed. */
  readonly #asked: Promise<void>;
  #primary: Place | undefined;
  #isClosed = false;

  constructor(settings: SentinelWatchSettings) {
    this.#settings = settings;
    this.#listed = new Set(settings.sentinels.map(keyOf));
    this.#asked = Promise.any(settings.sentinels.map((sentinel) => this.#watch(sentinel)));
    // `primary` passes the failure on, if it is called at all.
    this.#asked.catch(() => undefined);
  }

  /** The address of the primary. Rejects when no Sentinel has answered yet, with the reason of the first listed one. */
  async primary(): Promise<Place> {
    if (this.#primary === undefined) {
      await this.#asked.catch((error: AggregateError) => {
        if (this.#primary === undefined) throw error.errors[0];
      });
    }
    return this.#primary as Place;
  }

  close(): void {
    this.#isClosed = true;
    for (const end of this.#sessions.values()) end();
  }

  /** Resolves when the Sentinel has answered; rejects when the first attempt fails, but keeps trying. */
  #watch(sentinel: Place): Promise<void> {
    return new Promise((resolve, reject) => {
      void this.#follow(sentinel, resolve, reject);
    });
  }

  async #follow(sentinel: Place, onAnswer: () => void, onFailure: (reason: unknown) => void): Promise<void> {
    const key = keyOf(sentinel);
    let failures = 0;
    const answered = () => {
      failures = 0;
      onAnswer();
    };
    while (!this.#isClosed) {
      this.#sessions.set(key, () => {});
      onFailure(await this.#listen(sentinel, answered).catch((reason: unknown) => reason));
      this.#answers.delete(key);
      // An unlisted Sentinel may be gone; if not, others announce it again.
      if (!this.#listed.has(key)) break;
      failures += 1;
      await sleep(reconnectDelayMs(failures), undefined, { ref: false });
    }
    this.#sessions.delete(key);
  }

  /** Listens until the connection fails; resolves to the reason. */
  async #listen(sentinel: Place, onAnswer: () => void): Promise<unknown> {
    const { name, open } = this.#settings;
    let end: (reason?: unknown) => void = () => {};
    const ended = new Promise<unknown>((resolve) => {
      end = resolve;
    });
    let asked = Promise.resolve();
    // One question at a time, so that the last answer is the newest.
    const ask = () => {
      asked = asked.then(() => this.#ask(sentinel)).catch(end);
      return asked;
    };
    const listener = await open(sentinel, {
      onMessage: (_channel, message) => {
        if (message.startsWith(`${name} `)) void ask();
      },
      onDown: end,
    });
    let asking: NodeJS.Timeout | undefined;
    try {
      const isHeard = await listener.subscribe(CHANNEL, 'plain').then(
        () => true,
        () => false,
      );
      // Ask after subscribing, so that no switch is missed in between.
      await this.#ask(sentinel);
      onAnswer();
      if (this.#isClosed) return undefined;
      this.#sessions.set(keyOf(sentinel), end);
      const probe = () => {
        void ask();
        listener.ping().catch(end);
      };
      asking = setInterval(probe, isHeard ? ASK_EVERY_MS : ASK_OFTEN_MS).unref();
      return await ended;
    } finally {
      clearInterval(asking);
      listener.destroy();
    }
  }

  /** A subscribed connection cannot send queries, so this opens another one. */
  async #ask(sentinel: Place): Promise<void> {
    const { name, placeOf, open } = this.#settings;
    const connection = await open(sentinel, UNHEARD);
    try {
      // Some Sentinels only permit the query for the address.
      const [state, place, others] = await Promise.all([
        connection.send(['SENTINEL', 'MASTER', name]).catch(() => null),
        connection.send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
        placeOf && connection.send(['SENTINEL', 'SENTINELS', name]).catch(() => null),
      ]);
      if (!Array.isArray(place)) throw new Error(`the Sentinel knows no primary named "${name}"`);
      const epoch = Number(fieldOf(state, 'config-epoch'));
      this.#learn(sentinel, { host: String(place[0]), port: Number(place[1]), epoch });
      for (const other of Array.isArray(others) ? others : []) this.#meet(other);
    } finally {
      connection.destroy();
    }
  }

  /** Of the Sentinels' last answers the highest epoch wins; of equal epochs, the newest answer. */
  #learn(sentinel: Place, answer: Answer): void {
    const key = keyOf(sentinel);
    const last = this.#answers.get(key);
    const isNews = last === undefined || last.epoch !== answer.epoch || keyOf(last) !== keyOf(answer);
    if (!isNews || this.#isClosed) return;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    const best = [...this.#answers.values()].reduce((one, next) => (next.epoch >= one.epoch ? next : one));
    const former = this.#primary;
    this.#primary = best;
    if (former !== undefined && keyOf(former) !== keyOf(best)) this.#settings.onSwitched(best);
  }

  /** A Sentinel has announced another one. */
  #meet(other: ScriptReply): void {
    const { placeOf } = this.#settings;
    const isGone = fieldOf(other, 'flags').includes('disconnected');
    const sentinel = placeOf?.({ host: fieldOf(other, 'ip'), port: Number(fieldOf(other, 'port')) });
    if (isGone || sentinel === undefined || this.#isClosed || this.#sessions.has(keyOf(sentinel))) return;
    // If it cannot be reached, others announce it again.
    this.#watch(sentinel).catch(() => undefined);
  }
}
