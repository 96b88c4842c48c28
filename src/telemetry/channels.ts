/**
 * Publishes the events of all clients on one diagnostics channel.
 *
 * Subscribe with `diagnostics_channel.subscribe('holdfast', …)`; without subscribers no message is built.
 */
import { channel } from 'node:diagnostics_channel';
import type { ClientEvents } from '../events.ts';

/** A message on the `holdfast` diagnostics channel. */
export type Diagnostic = {
  [Name in keyof ClientEvents]: {
    readonly clientId: string;
    readonly event: Name;
    readonly payload: ClientEvents[Name];
  };
}[keyof ClientEvents];

const holdfast = channel('holdfast');

export function publish<Name extends keyof ClientEvents>(
  clientId: string,
  event: Name,
  payload: ClientEvents[Name],
): void {
  if (holdfast.hasSubscribers) holdfast.publish({ clientId, event, payload });
}
