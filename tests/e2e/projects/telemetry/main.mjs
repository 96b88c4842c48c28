import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Holdfast } from 'holdfast';
import { HoldfastInstrumentation } from 'holdfast/otel';
import { observe } from 'holdfast/prometheus';
import { register } from 'prom-client';

const { REDIS_URL, LOCK_NAME } = process.env;
const observer = observe();
const exporter = new InMemorySpanExporter();
const instrumentation = new HoldfastInstrumentation();
instrumentation.setTracerProvider(
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
);
const client = await Holdfast.connect(REDIS_URL);
await client.getLock(LOCK_NAME).withLock(() => {});
await client.close();
const text = await register.metrics();
const spans = exporter.getFinishedSpans().map(({ name }) => name);
observer.stop();
instrumentation.disable();
console.log(JSON.stringify({ counted: text.match(/^holdfast_hold_seconds_count.* (\d+)$/m)?.[1], spans }));
