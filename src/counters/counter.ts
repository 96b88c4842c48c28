/**
 * One counter on the server: where it is, and how a request changes it once.
 *
 * Every semaphore, latch and rate limiter has a counter. Their files say which scripts to run.
 */
import { tracesReleases } from '../channels.ts';
import type { PrimitiveKind } from '../events.ts';
import { type Memory, type RequestContext, Requests } from '../requests/requests.ts';
import type { Wire } from '../requests/wire.ts';
import type { Script } from '../scripts/script.ts';
import { traceRelease } from '../tracing.ts';
import type { OncePerName } from './once-per-name.ts';
import type { SharedLooks } from './shared-look.ts';

/** What all synchronizers of a client share. */
export interface SynchronizerContext extends RequestContext {
  readonly wire: Wire;
  readonly sharedLooks: SharedLooks;
  /** What was done once for a name. */
  readonly oncePerName: OncePerName;
}

export class Counter {
  readonly kind: PrimitiveKind;
  readonly context: SynchronizerContext;
  readonly name: string;
  readonly key: string;
  /** Distinguishes this counter from all others of the client. */
  readonly identity: string;
  readonly requests: Requests;

  constructor(context: SynchronizerContext, kind: PrimitiveKind, name: string) {
    this.kind = kind;
    this.context = context;
    this.name = name;
    this.key = context.wire.keyOf(name);
    this.identity = `${kind} ${this.key}`;
    this.requests = new Requests(context, name, this.key);
  }

  /** A request that runs this script, and tells it where to remember the answer, and for how long. */
  requestWith<
    Keys extends { answer: string },
    Args extends { rememberMs: number },
    Reply extends { status: string },
  >(
    script: Script<Keys, Args, Reply>,
    keys: Omit<Keys, 'answer'>,
    args: Omit<Args, 'rememberMs'>,
  ): (memory: Memory) => Promise<Reply> {
    const { driver } = this.context.wire;
    return ({ answer, rememberMs }) =>
      script.run(driver, { ...keys, answer } as Keys, { ...args, rememberMs } as Args);
  }

  /**
   * Gives permits back once, or rejects, as `requests.changeSurely` does.
   *
   * @param permits undefined for what has none
   * @param wasLost reads from the answer that there was nothing to give them back to
   */
  giveBack<T>(
    permits: number | undefined,
    call: (memory: Memory) => Promise<T>,
    wasLost: (answer: T) => boolean,
    { verb = 'release', evenIfNotRun = false } = {},
  ): Promise<T> {
    const change = () => this.requests.changeSurely(verb, call, { evenIfNotRun });
    if (!tracesReleases()) return change();
    return traceRelease(this.context.runtime, { kind: this.kind, name: this.name, permits }, change, wasLost);
  }

  /** To be called with the reply to a change, which may say whether the server accepted the wake-up. */
  changed(reply: { readonly status: string; readonly announced?: number }): void {
    if (reply.announced !== undefined) this.context.wire.announced(reply.announced);
  }
}
