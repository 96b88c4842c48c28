/** The metrics for OpenTelemetry. Their names, units and attributes are part of the public interface. */
import type {
  Counter,
  Histogram,
  Meter as Instruments,
  ObservableCallback,
  ObservableGauge,
  ObservableUpDownCounter,
} from '@opentelemetry/api';
import type { LossReason } from '../../errors.ts';
import type { WarningCode } from '../../events.ts';
import { DESCRIPTIONS } from '../metrics/descriptions.ts';
import type { Labels } from '../metrics/groups.ts';
import {
  BUCKETS,
  type Ended,
  LOSS_REASONS,
  type Measurements,
  type Meter,
  type Outcome,
} from '../metrics/measurements.ts';
import type { OngoingFigures } from '../metrics/ongoing.ts';
import { attributesOfLabels } from './attributes.ts';

type Observed = ObservableGauge | ObservableUpDownCounter;

export class OtelMeter implements Meter {
  readonly #wait: Histogram;
  readonly #hold: Histogram;
  readonly #contended: Counter;
  readonly #timeouts: Counter;
  readonly #losses: Counter;
  readonly #atRisk: Counter;
  readonly #renewals: Counter;
  readonly #stalls: Counter;
  readonly #warnings: Counter;
  readonly #errors: Counter;
  readonly #observed: readonly (readonly [Observed, ObservableCallback])[];

  /** @param measurements says what is under way, when a reader asks */
  constructor(make: Instruments, measurements: Measurements) {
    const duration = (name: string, description: string): Histogram =>
      make.createHistogram(name, {
        unit: 's',
        description,
        advice: { explicitBucketBoundaries: [...BUCKETS] },
      });
    const count = (name: string, unit: string, description: string): Counter =>
      make.createCounter(name, { unit, description });

    this.#wait = duration('holdfast.wait.duration', DESCRIPTIONS.wait);
    this.#hold = duration('holdfast.hold.duration', DESCRIPTIONS.hold);
    this.#contended = count('holdfast.wait.contended', '{call}', DESCRIPTIONS.contended);
    this.#timeouts = count('holdfast.wait.timeouts', '{call}', DESCRIPTIONS.timeouts);
    this.#losses = count('holdfast.hold.losses', '{hold}', DESCRIPTIONS.losses);
    this.#atRisk = count('holdfast.hold.at_risk', '{event}', DESCRIPTIONS.atRisk);
    this.#renewals = count('holdfast.renewals', '{command}', DESCRIPTIONS.renewals);
    this.#stalls = count('holdfast.stalls', '{event}', DESCRIPTIONS.stalls);
    this.#warnings = count('holdfast.warnings', '{warning}', DESCRIPTIONS.warnings);
    this.#errors = count('holdfast.errors', '{error}', DESCRIPTIONS.errors);

    const watch = (
      observed: Observed,
      which: 'holding' | 'waiting',
      value: (figures: OngoingFigures) => number,
    ) => {
      const callback: ObservableCallback = (result) => {
        for (const figures of measurements[which].figures()) {
          result.observe(value(figures), attributesOfLabels(figures.labels));
        }
      };
      observed.addCallback(callback);
      return [observed, callback] as const;
    };
    const now = (name: string, unit: string, description: string) =>
      make.createObservableUpDownCounter(name, { unit, description });
    const age = (name: string, description: string) =>
      make.createObservableGauge(name, { unit: 's', description });
    this.#observed = [
      watch(now('holdfast.hold.active', '{hold}', DESCRIPTIONS.held), 'holding', number),
      watch(now('holdfast.wait.active', '{call}', DESCRIPTIONS.waiting), 'waiting', number),
      watch(age('holdfast.hold.oldest', DESCRIPTIONS.oldestHold), 'holding', oldest),
      watch(age('holdfast.wait.oldest', DESCRIPTIONS.oldestWait), 'waiting', oldest),
    ];
    for (const outcome of ['renewed', 'failed']) this.#renewals.add(0, { 'holdfast.outcome': outcome });
  }

  /** Readers are told no more about what is under way. */
  close(): void {
    for (const [observed, callback] of this.#observed) observed.removeCallback(callback);
  }

  begin(labels: Labels): void {
    const attributes = attributesOfLabels(labels);
    for (const counter of [this.#contended, this.#timeouts, this.#atRisk]) counter.add(0, attributes);
    for (const reason of LOSS_REASONS) this.#losses.add(0, { ...attributes, 'holdfast.loss.reason': reason });
  }

  waited(labels: Labels, outcome: Outcome, seconds: number): void {
    this.#wait.record(seconds, { ...attributesOfLabels(labels), 'holdfast.outcome': outcome });
  }

  contended(labels: Labels): void {
    this.#contended.add(1, attributesOfLabels(labels));
  }

  timedOut(labels: Labels): void {
    this.#timeouts.add(1, attributesOfLabels(labels));
  }

  held(labels: Labels, ended: Ended, seconds: number): void {
    this.#hold.record(seconds, { ...attributesOfLabels(labels), 'holdfast.ended': ended });
  }

  lost(labels: Labels, reason: LossReason): void {
    this.#losses.add(1, { ...attributesOfLabels(labels), 'holdfast.loss.reason': reason });
  }

  atRisk(labels: Labels): void {
    this.#atRisk.add(1, attributesOfLabels(labels));
  }

  renewed(outcome: 'renewed' | 'failed'): void {
    this.#renewals.add(1, { 'holdfast.outcome': outcome });
  }

  stalled(): void {
    this.#stalls.add(1);
  }

  warned(code: WarningCode): void {
    this.#warnings.add(1, { 'holdfast.warning.code': code });
  }

  failed(): void {
    this.#errors.add(1);
  }
}

const number = ({ count }: OngoingFigures): number => count;
const oldest = ({ oldestSeconds }: OngoingFigures): number => oldestSeconds;
