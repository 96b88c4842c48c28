/**
 * The class that users register with OpenTelemetry. It has the methods of an instrumentation and needs none of its base
 * classes: the diagnostics channels are there, so no module has to be patched.
 */
import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import type { GroupOptions } from '../metrics/groups.ts';
import { Measurements } from '../metrics/measurements.ts';
import { OtelMeter } from './otel-meter.ts';
import { Spans } from './spans.ts';
import { VERSION } from './version.ts';

/** What can be set. `groupName` and `maxGroups` are about metrics; spans have the names. */
export interface HoldfastInstrumentationConfig extends GroupOptions {
  /** Whether it is enabled when it is made. By default true. */
  readonly enabled?: boolean;
}

/**
 * Spans and metrics of all clients of this process.
 *
 * @example
 * ```ts
 * import { registerInstrumentations } from '@opentelemetry/instrumentation';
 *
 * const disable = registerInstrumentations({ instrumentations: [new HoldfastInstrumentation()] });
 * await client.getLock('invoice:42').withLock(() => {});
 * disable();
 * ```
 */
export class HoldfastInstrumentation {
  readonly instrumentationName = 'holdfast';
  readonly instrumentationVersion = VERSION;
  readonly #spans = new Spans(trace.getTracer('holdfast', VERSION));
  readonly #measurements: Measurements;
  #config: HoldfastInstrumentationConfig;
  #meters: MeterProvider | undefined;
  /** While it is enabled. */
  #meter: OtelMeter | undefined;

  constructor(config: HoldfastInstrumentationConfig = {}) {
    this.#config = { enabled: true, ...config };
    this.#measurements = new Measurements(config);
    if (this.#config.enabled) this.enable();
  }

  /** Begins to observe. Holds and calls that are under way are not seen. */
  enable(): void {
    if (this.#meter !== undefined) return;
    this.#meter = this.#makeMeter();
    this.#measurements.start(this.#meter);
    this.#spans.start();
  }

  /** Ends the spans that are open, and observes no more. */
  disable(): void {
    this.#spans.stop();
    this.#measurements.stop();
    this.#meter?.close();
    this.#meter = undefined;
  }

  setTracerProvider(provider: TracerProvider): void {
    this.#spans.use(provider.getTracer(this.instrumentationName, VERSION));
  }

  setMeterProvider(provider: MeterProvider): void {
    this.#meters = provider;
    if (this.#meter === undefined) return;
    this.#meter.close();
    this.#meter = this.#makeMeter();
    this.#measurements.use(this.#meter);
  }

  setConfig(config: HoldfastInstrumentationConfig): void {
    this.#measurements.group(config);
    this.#config = { enabled: true, ...config };
  }

  getConfig(): HoldfastInstrumentationConfig {
    return this.#config;
  }

  #makeMeter(): OtelMeter {
    const provider = this.#meters ?? metrics.getMeterProvider();
    return new OtelMeter(provider.getMeter(this.instrumentationName, VERSION), this.#measurements);
  }
}
