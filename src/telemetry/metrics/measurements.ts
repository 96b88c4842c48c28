/**
 * Turns the messages of the channels into measurements, the same for every system of metrics. How they are named and
 * kept is left to a `Meter`. A multi lock or red lock counts once: its members are not measured.
 */
import type { AcquireMessage, HoldMessage } from '../../channels.ts';
import type { LossReason } from '../../errors.ts';
import type { WarningCode } from '../../events.ts';
import { Subscriptions } from '../subscriptions.ts';
import { type GroupOptions, Groups, type Labels } from './groups.ts';
import { Ongoing } from './ongoing.ts';

export type Outcome = NonNullable<AcquireMessage['outcome']>;
export type Ended = NonNullable<HoldMessage['ended']>;

/** The bounds of histograms, in seconds: from a round trip to a night's work. */
export const BUCKETS: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800];

/** Every reason for which a hold can be lost. */
export const LOSS_REASONS = Object.keys({
  expired: true,
  notOwner: true,
  unreachable: true,
  failover: true,
  suspended: true,
  forced: true,
  maxHold: true,
  closed: true,
} satisfies Record<LossReason, true>) as readonly LossReason[];

/** Keeps what is counted and timed. */
export interface Meter {
  /** These labels are new: counters begin at 0, so that their first step is seen as one. */
  begin(labels: Labels): void;
  waited(labels: Labels, outcome: Outcome, seconds: number): void;
  contended(labels: Labels): void;
  timedOut(labels: Labels): void;
  held(labels: Labels, ended: Ended, seconds: number): void;
  lost(labels: Labels, reason: LossReason): void;
  atRisk(labels: Labels): void;
  renewed(outcome: 'renewed' | 'failed'): void;
  stalled(): void;
  warned(code: WarningCode): void;
  failed(): void;
}

export class Measurements {
  /** The calls that are under way. */
  readonly waiting = new Ongoing<AcquireMessage>();
  /** The holds that there are. */
  readonly holding = new Ongoing<HoldMessage>();
  readonly #subscriptions = new Subscriptions();
  #groups: Groups;
  #meter: Meter | undefined;

  constructor(options: GroupOptions) {
    this.#groups = this.#grouped(options);
  }

  /** From now on, measurements go to another meter. */
  use(meter: Meter): void {
    this.#meter = meter;
    for (const labels of this.#groups.all()) meter.begin(labels);
  }

  /** From now on, names are grouped in another way. What is under way keeps its labels. */
  group(options: GroupOptions): void {
    this.#groups = this.#grouped(options);
  }

  start(meter: Meter): void {
    this.use(meter);
    this.#subscriptions
      .on('tracing:holdfast:acquire:start', (call) => {
        if (!call.isMember) this.waiting.begin(call, this.#groups.of(call.name, call.kind));
      })
      .on('tracing:holdfast:acquire:asyncEnd', (call) => {
        if (!call.isMember) this.#acquired(call);
      })
      .on('tracing:holdfast:hold:start', (hold) => {
        if (!hold.isMember) this.holding.begin(hold, this.#groups.of(hold.name, hold.kind));
      })
      .on('tracing:holdfast:hold:asyncEnd', (hold) => {
        if (!hold.isMember) this.#held(hold);
      })
      .on('tracing:holdfast:renew:asyncEnd', ({ error }) => {
        this.#meter?.renewed(error === undefined ? 'renewed' : 'failed');
      })
      .on('holdfast:atRisk', ({ name, kind }) => this.#meter?.atRisk(this.#groups.of(name, kind)))
      .on('holdfast:stalled', () => this.#meter?.stalled())
      .on('holdfast:warning', ({ code }) => this.#meter?.warned(code))
      .on('holdfast:error', () => this.#meter?.failed());
  }

  /** What is under way is forgotten: its end would not be heard. */
  stop(): void {
    this.#subscriptions.end();
    this.waiting.clear();
    this.holding.clear();
  }

  #grouped(options: GroupOptions): Groups {
    return new Groups(options, (labels) => this.#meter?.begin(labels));
  }

  #acquired(call: AcquireMessage): void {
    const labels = this.waiting.end(call) ?? this.#groups.of(call.name, call.kind);
    const { outcome = 'failed', waitedMs, contended = false } = call;
    if (waitedMs !== undefined) this.#meter?.waited(labels, outcome, waitedMs / 1000);
    if (contended) this.#meter?.contended(labels);
    if (outcome === 'timeout') this.#meter?.timedOut(labels);
  }

  #held(hold: HoldMessage): void {
    const labels = this.holding.end(hold) ?? this.#groups.of(hold.name, hold.kind);
    const { ended = 'released', heldMs, reason } = hold;
    if (heldMs !== undefined) this.#meter?.held(labels, ended, heldMs / 1000);
    if (reason !== undefined) this.#meter?.lost(labels, reason);
  }
}
