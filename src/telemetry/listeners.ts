/**
 * The listeners of one client. What they throw stays with them.
 */
import type { ClientEvents } from '../events.ts';

export type Listener<Name extends keyof ClientEvents> = (payload: ClientEvents[Name]) => void;

export class Listeners {
  readonly #byEvent = new Map<keyof ClientEvents, Set<Listener<never>>>();

  add<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): void {
    const listeners = this.#byEvent.get(event) ?? new Set();
    this.#byEvent.set(event, listeners.add(listener));
  }

  remove<Name extends keyof ClientEvents>(event: Name, listener: Listener<Name>): void {
    this.#byEvent.get(event)?.delete(listener);
  }

  emit<Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]): void {
    const listeners = this.#byEvent.get(event);
    if (event === 'warning' && !listeners?.size) {
      // Nobody listens: a warning that nobody sees would be none.
      const { code, message } = payload as ClientEvents['warning'];
      process.emitWarning(message, { type: 'HoldfastWarning', code });
    }
    for (const listener of listeners ?? []) {
      try {
        (listener as Listener<Name>)(payload);
      } catch (error) {
        // The runtime is in the middle of something; a listener's mistake must not change how it goes on.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
