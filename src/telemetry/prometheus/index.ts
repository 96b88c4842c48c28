/**
 * Metrics for Prometheus, kept by prom-client.
 *
 * @module holdfast/prometheus
 */
export type { PrimitiveKind } from '../../events.ts';
export type { GroupName, GroupOptions } from '../metrics/groups.ts';
export { type ObserveOptions, type Observer, observe } from './observe.ts';
export type { MetricsRegistry } from './prometheus-meter.ts';
