/**
 * The listeners of one client. What a listener throws changes nothing for the client.
 */
import { OptionError } from '../errors.ts';
import { CLIENT_EVENTS, type ClientEvents } from '../events.ts';

export type Listener<Name extends keyof ClientEvents> = (payload: ClientEvents[Name]) => void;

export class Listeners {
  /** Whether each is called once only. */
  readonly #byEvent = new Map<keyof ClientEvents, Map<Listener<never>, boolean>>();

  add<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>, { once = false } = {}): void {
    this.#of(event).set(listener, once);
  }

  remove<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): void {
    this.#of(event).delete(listener);
  }

  /** @throws OptionError for a name that no event has: its listener would never be called */
  #of(event: keyof ClientEvents): Map<Listener<never>, boolean> {
    if (!CLIENT_EVENTS.includes(event)) {
      throw new OptionError(`There is no event "${String(event)}"; there are ${CLIENT_EVENTS.join(', ')}`);
    }
    const listeners = this.#byEvent.get(event) ?? new Map<Listener<never>, boolean>();
    this.#byEvent.set(event, listeners);
    return listeners;
  }

  emit<Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]): void {
    const listeners = this.#byEvent.get(event);
    if (event === 'warning' && !listeners?.size) {
      // Nobody listens: a warning that nobody sees would be none.
      const { code, message } = payload as ClientEvents['warning'];
      process.emitWarning(message, { type: 'HoldfastWarning', code });
    }
    for (const [listener, isOnce] of listeners ?? []) {
      if (isOnce) listeners?.delete(listener);
      try {
        (listener as Listener<Name>)(payload);
      } catch (error) {
        // The runtime is in the middle of something; a listener's mistake must not change how it goes on.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
