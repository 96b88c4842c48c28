/** OpenTelemetry's own SDK, with what it collects kept in memory. */
import type { Span } from '@opentelemetry/api';
import { context, metrics, trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { onTestFinished } from 'vitest';
import {
  HoldfastInstrumentation,
  type HoldfastInstrumentationConfig,
} from '../../../src/telemetry/otel/index.ts';

export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

export interface Telemetry {
  readonly instrumentation: HoldfastInstrumentation;
  /** Ends what was registered. */
  readonly disable: () => void;
  /** Runs the work inside a span of the caller, and returns that span. */
  inSpan(name: string, work: () => Promise<unknown>): Promise<Span>;
  /** The ended spans about a name, in the order in which they ended. */
  spans(name: string): ReadableSpan[];
  /** The points of a metric; undefined if there is no such metric. */
  points(metric: string): Promise<Point[] | undefined>;
  /** The unit of a metric. */
  unit(metric: string): Promise<string | undefined>;
}

/** Registers the instrumentation as users do, until the test ends. */
export function startTelemetry(config?: HoldfastInstrumentationConfig): Telemetry {
  const exporter = new InMemorySpanExporter();
  const tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  tracers.register();
  const kept = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // It is asked by hand, never by its own timer.
  const reader = new PeriodicExportingMetricReader({ exporter: kept, exportIntervalMillis: 2 ** 30 });
  const meters = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meters);
  const instrumentation = new HoldfastInstrumentation(config);
  const disable = registerInstrumentations({ instrumentations: [instrumentation] });
  onTestFinished(async () => {
    disable();
    await Promise.all([tracers.shutdown(), meters.shutdown()]);
    trace.disable();
    metrics.disable();
    context.disable();
  });

  const collected = async (metric: string) => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw errors[0];
    const all = resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'holdfast')
      .flatMap((scope) => scope.metrics);
    return all.find(({ descriptor }) => descriptor.name === metric);
  };
  return {
    instrumentation,
    disable,
    inSpan: (name, work) =>
      tracers.getTracer('test').startActiveSpan(name, async (span) => {
        await work();
        span.end();
        return span;
      }),
    spans: (name) =>
      exporter.getFinishedSpans().filter(({ attributes }) => attributes['holdfast.name'] === name),
    points: async (metric) =>
      (await collected(metric))?.dataPoints.map(({ attributes, value }) => ({ attributes, value })),
    unit: async (metric) => (await collected(metric))?.descriptor.unit,
  };
}
