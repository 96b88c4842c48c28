/** The metrics that Prometheus reads. Their names, labels and meanings are part of the public interface. */
import { Counter, Gauge, Histogram, type Metric } from 'prom-client';
import type { LossReason } from '../../errors.ts';
import type { WarningCode } from '../../events.ts';
import { DESCRIPTIONS } from '../metrics/descriptions.ts';
import type { Labels } from '../metrics/groups.ts';
import {
  type Ended,
  LOSS_REASONS,
  type Measurements,
  type Meter,
  type Outcome,
} from '../metrics/measurements.ts';
import type { OngoingFigures } from '../metrics/ongoing.ts';

/** What is needed of a registry; that of another copy of prom-client will do. */
export interface MetricsRegistry {
  registerMetric(metric: never): void;
  removeSingleMetric(name: string): void;
}

/** What every metric about locks and synchronizers is told apart by. */
const LABELS = ['group', 'kind'] as const;

export class PrometheusMeter implements Meter {
  readonly #prefix: string;
  readonly #buckets: number[];
  readonly #measurements: Measurements;
  readonly #metrics = new Map<string, Metric>();

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

  /** @param measurements says what is under way, when Prometheus asks */
  constructor(prefix: string, buckets: number[], measurements: Measurements) {
    this.#prefix = prefix;
    this.#buckets = buckets;
    this.#measurements = measurements;

    this.#wait = this.#histogram('wait_seconds', DESCRIPTIONS.wait, 'outcome');
    this.#hold = this.#histogram('hold_seconds', DESCRIPTIONS.hold, 'ended');
    this.#contended = this.#counter('contended_total', DESCRIPTIONS.contended, ...LABELS);
    this.#timeouts = this.#counter('timeouts_total', DESCRIPTIONS.timeouts, ...LABELS);
    this.#losses = this.#counter('losses_total', DESCRIPTIONS.losses, ...LABELS, 'reason');
    this.#atRisk = this.#counter('at_risk_total', DESCRIPTIONS.atRisk, ...LABELS);
    this.#renewals = this.#counter('renewals_total', DESCRIPTIONS.renewals, 'outcome');
    this.#stalls = this.#counter('stalls_total', DESCRIPTIONS.stalls);
    this.#warnings = this.#counter('warnings_total', DESCRIPTIONS.warnings, 'code');
    this.#errors = this.#counter('errors_total', DESCRIPTIONS.errors);

    this.#gauge('held', DESCRIPTIONS.held, 'holding', ({ count }) => count);
    this.#gauge('waiting', DESCRIPTIONS.waiting, 'waiting', ({ count }) => count);
    this.#gauge('oldest_hold_seconds', DESCRIPTIONS.oldestHold, 'holding', oldest, 'max');
    this.#gauge('oldest_wait_seconds', DESCRIPTIONS.oldestWait, 'waiting', oldest, 'max');

    for (const outcome of ['renewed', 'failed']) this.#renewals.inc({ outcome }, 0);
  }

  /** Registers all metrics, or none. */
  register(registry: MetricsRegistry): void {
    const done: string[] = [];
    try {
      for (const [name, metric] of this.#metrics) {
        registry.registerMetric(metric as never);
        done.push(name);
      }
    } catch (error) {
      for (const name of done) registry.removeSingleMetric(name);
      throw error;
    }
  }

  unregister(registry: MetricsRegistry): void {
    for (const name of this.#metrics.keys()) registry.removeSingleMetric(name);
  }

  begin(labels: Labels): void {
    for (const counter of [this.#contended, this.#timeouts, this.#atRisk]) counter.inc({ ...labels }, 0);
    for (const reason of LOSS_REASONS) this.#losses.inc({ ...labels, reason }, 0);
  }

  waited({ group, kind }: Labels, outcome: Outcome, seconds: number): void {
    this.#wait.observe({ group, kind, outcome }, seconds);
  }

  contended({ group, kind }: Labels): void {
    this.#contended.inc({ group, kind });
  }

  timedOut({ group, kind }: Labels): void {
    this.#timeouts.inc({ group, kind });
  }

  held({ group, kind }: Labels, ended: Ended, seconds: number): void {
    this.#hold.observe({ group, kind, ended }, seconds);
  }

  lost({ group, kind }: Labels, reason: LossReason): void {
    this.#losses.inc({ group, kind, reason });
  }

  atRisk({ group, kind }: Labels): void {
    this.#atRisk.inc({ group, kind });
  }

  renewed(outcome: 'renewed' | 'failed'): void {
    this.#renewals.inc({ outcome });
  }

  stalled(): void {
    this.#stalls.inc();
  }

  warned(code: WarningCode): void {
    this.#warnings.inc({ code });
  }

  failed(): void {
    this.#errors.inc();
  }

  #add<M extends Metric>(name: string, metric: M): M {
    this.#metrics.set(name, metric);
    return metric;
  }

  #counter(suffix: string, help: string, ...labelNames: string[]): Counter {
    const name = this.#prefix + suffix;
    return this.#add(name, new Counter({ name, help, labelNames, registers: [] }));
  }

  #histogram(suffix: string, help: string, by: string): Histogram {
    const name = this.#prefix + suffix;
    const labelNames = [...LABELS, by];
    return this.#add(name, new Histogram({ name, help, labelNames, buckets: this.#buckets, registers: [] }));
  }

  #gauge(
    suffix: string,
    help: string,
    which: 'holding' | 'waiting',
    value: (figures: OngoingFigures) => number,
    aggregator: 'sum' | 'max' = 'sum',
  ): void {
    const name = this.#prefix + suffix;
    const measurements = this.#measurements;
    function collect(this: Gauge): void {
      for (const figures of measurements[which].figures()) {
        const { group, kind } = figures.labels;
        this.set({ group, kind }, value(figures));
      }
    }
    this.#add(name, new Gauge({ name, help, labelNames: LABELS, registers: [], aggregator, collect }));
  }
}

const oldest = ({ oldestSeconds }: OngoingFigures): number => oldestSeconds;
