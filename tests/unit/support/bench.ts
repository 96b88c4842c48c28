/** A runtime on a manual clock, with protocols and entries that a test drives by hand. */
import type { LeaseLostError } from '../../../src/errors.ts';
import type { ClientEvents, Report, WarningCode } from '../../../src/events.ts';
import type { Entry } from '../../../src/runtime/lease-deadline.ts';
import type { AcquireAnswer, LockProtocol, Renew, Waiting } from '../../../src/runtime/protocol.ts';
import { type PassOn, Runtime } from '../../../src/runtime/runtime.ts';
import { Tenure } from '../../../src/runtime/tenure.ts';
import { WakeChannels } from '../../../src/runtime/wake/channels.ts';
import { Warnings } from '../../../src/telemetry/warnings.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { HandDrivenDriver } from './hand-driven.ts';

export type Reported = {
  [Name in keyof ClientEvents]: { readonly event: Name; readonly payload: ClientEvents[Name] };
}[keyof ClientEvents];

/** Keeps every event of a runtime that its client would tell: no warning again while it stands. */
export class Reports {
  readonly all: Reported[] = [];
  readonly #warnings = new Warnings();
  readonly report: Report = (event, payload) => {
    const reported = { event, payload } as Reported;
    if (reported.event === 'warning' && !this.#warnings.isNews(reported.payload)) return;
    this.all.push(reported);
  };
  readonly takeBack = (code: WarningCode): void => this.#warnings.forget(code);

  /** The codes of the warnings that stand. */
  get standing(): WarningCode[] {
    return [...this.#warnings].map(({ code }) => code);
  }

  of<Name extends keyof ClientEvents>(name: Name): ClientEvents[Name][] {
    return this.all.filter(({ event }) => event === name).map(({ payload }) => payload as ClientEvents[Name]);
  }
}

export class Bench {
  readonly clock = new ManualClock();
  readonly driver = new HandDrivenDriver();
  readonly reports = new Reports();
  readonly runtime: Runtime;

  constructor({ watchdogMs = 30_000, commandTimeoutMs = 3_000, passOn = false as PassOn | false } = {}) {
    const { clock, driver } = this;
    const { report, takeBack } = this.reports;
    const channels = new WakeChannels('plain');
    const peek = async (keys: readonly string[]) => keys.map(() => -1);
    const times = { watchdogMs, commandTimeoutMs, passOn };
    const who = { clientId: 'c', label: 'bench' };
    this.runtime = new Runtime({ ...who, driver, clock, ...times, report, takeBack, channels, peek });
  }

  /** A tenure that begins now. */
  hold(
    protocol: HandDrivenProtocol,
    { renewed = true, leaseMs = this.runtime.watchdogMs, doubtful = false, tookMs = 0 } = {},
  ) {
    const entry = new NotingEntry(renewed);
    let isOver = false;
    const grant = {
      owner: `c:${protocol.name}`,
      sentAt: this.runtime.leaseClock.sendTime() - tookMs,
      leaseMs,
      doubtful,
    };
    const tenure = new Tenure(this.runtime, protocol, grant, entry, () => {
      isOver = true;
    });
    return {
      entry,
      tenure,
      get isOver() {
        return isOver;
      },
    };
  }
}

/** An entry that notes what it was told. */
export class NotingEntry implements Entry {
  readonly losses: LeaseLostError[] = [];

  constructor(readonly renewed: boolean) {}

  get canPassOn(): boolean {
    return this.renewed;
  }

  onLost(error: LeaseLostError): void {
    this.losses.push(error);
  }

  get reasons(): string[] {
    return this.losses.map(({ reason }) => reason);
  }
}

export interface RenewCall {
  readonly keys: readonly string[];
  readonly owners: readonly string[];
  readonly counts: readonly number[];
  readonly leaseMs: number;
  readonly atMs: number;
}

/** A renewal that notes its calls; `answer` may be replaced at any time. */
export class NotingRenewal {
  readonly calls: RenewCall[] = [];
  answer: (keys: readonly string[]) => Promise<readonly number[]> = async (keys) => keys.map(() => 1);
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  readonly renew: Renew = (keys, leaseMs, owners, counts) => {
    this.calls.push({ keys, owners, counts, leaseMs, atMs: this.#clock.now() });
    return this.answer(keys);
  };
}

/** A protocol that says yes to everything and notes it; what it answers may be replaced at any time. */
export class HandDrivenProtocol implements LockProtocol {
  readonly kind = 'lock';
  readonly key: string;
  readonly identity: string;
  readonly line: string;
  readonly renew: Renew;
  readonly calls: string[] = [];
  answers = {
    acquire: async (): Promise<AcquireAnswer> => ({ status: 'held' }),
    enter: async (): Promise<'held' | 'lost'> => 'held',
    leave: async (): Promise<'held' | 'lost'> => 'held',
    release: async (): Promise<'released' | 'lost'> => 'released',
  };

  constructor(
    readonly name: string,
    renewal: NotingRenewal,
  ) {
    this.key = name;
    this.identity = `lock ${name}`;
    this.line = this.identity;
    this.renew = renewal.renew;
  }

  readonly isOneCommand = true;

  waiting(): Waiting {
    return { kind: 'messages', channel: `channel of ${this.name}`, pollMs: 5_000 };
  }

  acquire(owner: string, leaseMs: number): Promise<AcquireAnswer> {
    this.calls.push(`acquire ${owner} ${leaseMs}`);
    return this.answers.acquire();
  }

  enter(_owner: string, count: number, leaseMs: number): Promise<'held' | 'lost'> {
    this.calls.push(`enter ${count} ${leaseMs}`);
    return this.answers.enter();
  }

  leave(_owner: string, count: number): Promise<'held' | 'lost'> {
    this.calls.push(`leave ${count}`);
    return this.answers.leave();
  }

  end(_owner: string, rememberMs: number): Promise<'released' | 'lost'> {
    this.calls.push(`release ${rememberMs}`);
    return this.answers.release();
  }

  async holders(): Promise<readonly string[]> {
    return [];
  }

  async forceRelease(): Promise<void> {
    this.calls.push('force-release');
  }

  async describe() {
    return { remainingMs: -2, holder: null };
  }
}
