/**
 * What the clients of this process tell on their channels.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AcquireMessage, EventMessage } from '../../channels.ts';
import type { ClientEvents } from '../../events.ts';
import type { Event } from './chronicle.ts';

export interface ProcessListener {
  onAcquireEnded(message: AcquireMessage): void;
  onEvent(told: ToldEvent): void;
}

export interface ToldEvent {
  readonly event: Event;
  /** What may be said of an event about no one lock without naming any. */
  readonly bareText: string;
  /** Of the lock, of whichever client; null where the event is about no one lock. */
  readonly name: string | null;
  readonly clientId: string;
}

/** A call that has just begun is seldom a waiter. */
const WAITING_AFTER_MS = 100;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Told = {
  [Name in keyof ClientEvents]: (
    message: EventMessage<Name>,
  ) => Pick<Event, 'who' | 'text'> & { bareText?: string; name?: string | undefined };
};

const TELL: Told = {
  lost: ({ label, name, reason }) => ({ who: label, name, text: `lost: ${reason}` }),
  atRisk: ({ label, name, remainingMs, error }) => ({
    who: label,
    name,
    text: `a renewal failed, ${Math.round(remainingMs)} ms are left: ${messageOf(error)}`,
  }),
  stalled: ({ lateMs }) => ({ who: null, text: `the event loop was blocked for ${Math.round(lateMs)} ms` }),
  warning: ({ code, message, name, about }) => ({
    who: null,
    name: name ?? about?.name,
    text: `${code}: ${message}`,
    bareText: code,
  }),
  error: ({ during, error }) => ({
    who: null,
    text: `${during}: ${messageOf(error)}`,
    bareText: 'something failed in the background',
  }),
};

/** Anything that a subscriber gets. */
type Subscriber = (message: unknown) => void;

export class ProcessEvents {
  readonly #listener: ProcessListener;
  readonly #subscriptions: (readonly [channel: string, subscriber: Subscriber])[] = [];
  readonly #pending = new Map<AcquireMessage, number>();

  constructor(listener: ProcessListener) {
    this.#listener = listener;
    this.#on('tracing:holdfast:acquire:start', (message) => {
      this.#pending.set(message as AcquireMessage, performance.now());
    });
    this.#on('tracing:holdfast:acquire:asyncEnd', (message) => {
      this.#pending.delete(message as AcquireMessage);
      listener.onAcquireEnded(message as AcquireMessage);
    });
    for (const name of Object.keys(TELL) as (keyof ClientEvents)[]) this.#tell(name);
  }

  /** The calls of one client that wait at present, those that wait longest first, with the names that they wait for. */
  waiting(clientId: string): AcquireMessage[] {
    const before = performance.now() - WAITING_AFTER_MS;
    const found: AcquireMessage[] = [];
    for (const [message, startedAt] of this.#pending) {
      if (startedAt > before) break;
      if (message.clientId === clientId) found.push(message);
    }
    return found;
  }

  close(): void {
    for (const [channel, subscriber] of this.#subscriptions.splice(0)) unsubscribe(channel, subscriber);
    this.#pending.clear();
  }

  #tell<Name extends keyof ClientEvents>(what: Name): void {
    this.#on(`holdfast:${what}`, (given) => {
      const message = given as EventMessage<Name>;
      const { name = null, who, text, bareText = text } = TELL[what](message);
      const event = { at: Date.now(), what, key: null, who, text, source: 'events' } as const;
      this.#listener.onEvent({ event, bareText, name, clientId: message.clientId });
    });
  }

  #on(channel: string, subscriber: Subscriber): void {
    this.#subscriptions.push([channel, subscriber]);
    subscribe(channel, subscriber);
  }
}
