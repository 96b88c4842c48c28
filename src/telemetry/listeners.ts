/**
 * The listeners of one client. An exception in a listener does not affect the client.
 */
import { OptionError } from '../errors.ts';
import { CLIENT_EVENTS, type ClientEvents } from '../events.ts';

export type Listener<Name extends keyof ClientEvents> = (payload: ClientEvents[Name]) => void;

export class Listeners {
  /** The value: called only once. */
  readonly #byEvent = new Map<keyof ClientEvents, Map<Listener<never>, boolean>>();

  add<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>, { once = false } = {}): void {
    this.#of(event).set(listener, once);
  }

  remove<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): void {
    this.#of(event).delete(listener);
  }

  /** @throws OptionError for an unknown event name: its listener would never be called */
  #of(event: keyof ClientEvents): Map<Listener<never>, boolean> {
    if (!CLIENT_EVENTS.includes(event)) {
      throw new OptionError(
        `There is no event "${String(event)}"; the events are ${CLIENT_EVENTS.join(', ')}`,
      );
    }
    const listeners = this.#byEvent.get(event) ?? new Map<Listener<never>, boolean>();
    this.#byEvent.set(event, listeners);
    return listeners;
  }

  emit<Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]): void {
    const listeners = this.#byEvent.get(event);
    if (event === 'warning' && !listeners?.size) {
      // Without a listener the warning would be lost.
      const { code, message } = payload as ClientEvents['warning'];
      process.emitWarning(message, { type: 'HoldfastWarning', code });
    }
    for (const [listener, isOnce] of listeners ?? []) {
      if (isOnce) listeners?.delete(listener);
      try {
        (listener as Listener<Name>)(payload);
      } catch (error) {
        // An exception in a listener must not interrupt the runtime's current step.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
