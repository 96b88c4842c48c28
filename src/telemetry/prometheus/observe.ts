/** Keeps metrics of all clients of this process in a registry of prom-client. `prometheus-meter.ts` has the metrics. */
import { register } from 'prom-client';
import { OptionError } from '../../errors.ts';
import { positive, show } from '../../options/value-checks.ts';
import type { GroupOptions } from '../metrics/groups.ts';
import { BUCKETS, Measurements } from '../metrics/measurements.ts';
import { type MetricsRegistry, PrometheusMeter } from './prometheus-meter.ts';

/** What to observe, and where to keep it. */
export interface ObserveOptions extends GroupOptions {
  /** By default that of prom-client, `register`. */
  readonly registry?: MetricsRegistry | undefined;
  /** What the names of the metrics begin with. By default `holdfast_`. */
  readonly prefix?: string | undefined;
  /** The bounds of the histograms, in seconds, rising. */
  readonly buckets?: readonly number[] | undefined;
}

/** What `observe` has begun. */
export interface Observer {
  /** Ends it, and takes its metrics out of the registry. */
  stop(): void;
  [Symbol.dispose](): void;
}

function checkedPrefix(prefix: string): string {
  if (typeof prefix === 'string' && /^[a-zA-Z_:][\w:]*$/.test(prefix)) return prefix;
  throw new OptionError(
    `prefix must have letters, digits, _ and : only, and no digit first, not ${show(prefix)}`,
  );
}

function checkedBuckets(buckets: readonly number[]): number[] {
  const isRising =
    Array.isArray(buckets) && buckets.every((bound, i) => i === 0 || bound > (buckets[i - 1] as number));
  if (!isRising || buckets.length === 0) throw new OptionError('buckets must be a list of rising numbers');
  return buckets.map((bound) => positive(bound, 'a bound of buckets'));
}

/**
 * Measures what the clients of this process do: how long calls wait and holds last, what is contended, timed out and
 * lost, how much is held and waited for now.
 *
 * @example
 * ```ts
 * import { Registry } from 'prom-client';
 *
 * const registry = new Registry();
 * const observer = observe({ registry, groupName: (name) => name.split(':')[0] ?? name });
 *
 * await client.getLock('invoice:42').withLock(() => {});
 * const text = await registry.metrics();
 * console.log(text.includes('holdfast_hold_seconds_count{group="invoice",kind="lock",ended="released"} 1')); // true
 * observer.stop();
 * ```
 *
 * @throws OptionError for wrong options; an error of prom-client if the registry has metrics of these names
 */
export function observe(options: ObserveOptions = {}): Observer {
  const { registry = register, prefix = 'holdfast_', buckets = BUCKETS } = options;
  const measurements = new Measurements(options);
  const meter = new PrometheusMeter(checkedPrefix(prefix), checkedBuckets(buckets), measurements);
  meter.register(registry);
  measurements.start(meter);
  let isStopped = false;
  const stop = (): void => {
    // Other metrics may have these names by then.
    if (isStopped) return;
    isStopped = true;
    measurements.stop();
    meter.unregister(registry);
  };
  return { stop, [Symbol.dispose]: stop };
}
