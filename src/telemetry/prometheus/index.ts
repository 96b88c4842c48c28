/**
 * Metrics for Prometheus, kept by prom-client.
 *
 * @module holdfast/prometheus
 */
export type { GroupName, GroupOptions, MeasuredKind } from '../metrics/groups.ts';
export { type ObserveOptions, type Observer, observe } from './observe.ts';
export type { MetricsRegistry } from './prometheus-meter.ts';
