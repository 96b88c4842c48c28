/**
 * What the runtime tells the outside world, besides the results of calls.
 *
 * One function, `Report`, carries every event; the client hands them to its listeners and to the
 * diagnostics channel. Nothing a listener does can disturb the runtime.
 */
import type { LossReason } from '../errors.ts';

/** Every event a client emits, by name. */
export interface ClientEvents {
  /** A hold is gone; its `signal` has just been aborted. */
  lost: { readonly name: string; readonly owner: string; readonly reason: LossReason };
  /** A renewal failed; it is being repeated until the lease ends. */
  atRisk: {
    readonly name: string;
    readonly owner: string;
    readonly remainingMs: number;
    readonly error: unknown;
  };
  /** The event loop was blocked for so long that renewals came late. */
  stalled: { readonly lateMs: number };
  /** Something works less well than it could, for example without permission to publish. */
  warning: { readonly code: WarningCode; readonly message: string };
  /** Something failed in the background that no caller waits for. */
  error: { readonly error: unknown; readonly during: string };
}

export type WarningCode = 'HOLDFAST_NO_PUBLISH' | 'HOLDFAST_NO_SUBSCRIBE' | 'HOLDFAST_EVICTION';

export type Report = <Name extends keyof ClientEvents>(event: Name, payload: ClientEvents[Name]) => void;
