/**
 * What the subscribers of this package share: they listen to the diagnostics channels by name, so that they hear the
 * clients of every copy of the package in this process.
 *
 * Node.js turns an exception of a subscriber into an uncaught one, which ends the process. Observing must not.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AcquireMessage, EventMessage, HoldMessage, ReleaseMessage, RenewMessage } from '../channels.ts';

/** The channels that are listened to, and their messages. */
interface Messages {
  'tracing:holdfast:acquire:start': AcquireMessage;
  'tracing:holdfast:acquire:asyncEnd': AcquireMessage;
  'tracing:holdfast:hold:start': HoldMessage;
  'tracing:holdfast:hold:asyncEnd': HoldMessage;
  'tracing:holdfast:renew:asyncEnd': RenewMessage;
  'tracing:holdfast:release:start': ReleaseMessage;
  'tracing:holdfast:release:asyncEnd': ReleaseMessage;
  'holdfast:atRisk': EventMessage<'atRisk'>;
  'holdfast:stalled': EventMessage<'stalled'>;
  'holdfast:warning': EventMessage<'warning'>;
  'holdfast:error': EventMessage<'error'>;
}

/** The subscriptions of one subscriber, which end together. */
export class Subscriptions {
  readonly #ends: (() => void)[] = [];

  on<Name extends keyof Messages>(name: Name, handle: (message: Messages[Name]) => void): this {
    const listener = (message: unknown): void => {
      try {
        handle(message as Messages[Name]);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    };
    subscribe(name, listener);
    this.#ends.push(() => unsubscribe(name, listener));
    return this;
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}
