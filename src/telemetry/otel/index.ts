/**
 * Traces and metrics for OpenTelemetry.
 *
 * @module holdfast/otel
 */
export type { GroupName, GroupOptions, MeasuredKind } from '../metrics/groups.ts';
export { HoldfastInstrumentation, type HoldfastInstrumentationConfig } from './instrumentation.ts';
