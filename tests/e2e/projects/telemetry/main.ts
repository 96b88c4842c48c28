import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Holdfast } from 'holdfast';
import { HoldfastInstrumentation } from 'holdfast/otel';
import { type Observer, observe } from 'holdfast/prometheus';
import { Registry } from 'prom-client';

async function main(): Promise<void> {
  const { REDIS_URL = '', LOCK_NAME = '' } = process.env;
  const registry = new Registry();
  const observer: Observer = observe({ registry });
  const exporter = new InMemorySpanExporter();
  const instrumentation = new HoldfastInstrumentation();
  instrumentation.setTracerProvider(
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  const client = await Holdfast.connect(REDIS_URL);
  await client.getLock(LOCK_NAME).withLock(() => {});
  await client.close();
  const text = await registry.metrics();
  const spans = exporter.getFinishedSpans().map(({ name }) => name);
  observer.stop();
  instrumentation.disable();
  console.log(JSON.stringify({ counted: text.match(/^holdfast_hold_seconds_count.* (\d+)$/m)?.[1], spans }));
}

void main();
