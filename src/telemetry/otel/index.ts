/**
 * Traces and metrics for OpenTelemetry.
 *
 * @module holdfast/otel
 */
export type { PrimitiveKind } from '../../events.ts';
export type { GroupName, GroupOptions } from '../metrics/groups.ts';
export { HoldfastInstrumentation, type HoldfastInstrumentationConfig } from './instrumentation.ts';
