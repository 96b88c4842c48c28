/** The metrics of `holdfast/otel`, by OpenTelemetry's own SDK. */
import { readFileSync } from 'node:fs';
import type { Instrumentation } from '@opentelemetry/instrumentation';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import { HoldfastInstrumentation } from '../../src/telemetry/otel/index.ts';
import { randomName } from '../harness/names.ts';
import { openShared, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { startTelemetry } from './support/otel.ts';

async function connect(options?: ClientOptions): Promise<Holdfast> {
  const client = await Holdfast.connect(sharedServer().url, options);
  onTestFinished(() => client.close());
  return client;
}

const ALL = { 'holdfast.group': 'all', 'holdfast.kind': 'lock' };

describe('the instrumentation', () => {
  it('is one as OpenTelemetry has them', () => {
    expectTypeOf<HoldfastInstrumentation>().toExtend<Instrumentation>();
    const instrumentation = new HoldfastInstrumentation({ enabled: false, maxGroups: 7 });
    expect(instrumentation.instrumentationName).toBe('holdfast');
    expect(instrumentation.getConfig()).toEqual({ enabled: false, maxGroups: 7 });
    instrumentation.setConfig({ maxGroups: 8 });
    expect(instrumentation.getConfig()).toEqual({ enabled: true, maxGroups: 8 });
  });

  it('has the version of the package', () => {
    const file = new URL('../../package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    expect(new HoldfastInstrumentation({ enabled: false }).instrumentationVersion).toBe(version);
  });
});

describe('metrics', () => {
  it('count and time waits and holds, in seconds, without names', async () => {
    const telemetry = startTelemetry();
    const [client, rival] = await Promise.all([connect(), connect()]);
    const name = randomName();
    const hold = await client.getLock(name).lock();
    expect(await telemetry.points('holdfast.hold.active')).toEqual([{ attributes: ALL, value: 1 }]);
    const waiting = rival.getLock(name).lock();
    expect(await telemetry.points('holdfast.wait.active')).toEqual([{ attributes: ALL, value: 1 }]);
    const [oldest] = (await telemetry.points('holdfast.wait.oldest')) ?? [];
    expect(oldest?.value).toBeGreaterThan(0);
    expect(await rival.getLock(name).tryLock()).toBeNull();
    await hold.unlock();
    await (await waiting).unlock();

    expect(await telemetry.unit('holdfast.wait.duration')).toBe('s');
    const waits = (await telemetry.points('holdfast.wait.duration')) ?? [];
    expect(waits).toContainEqual({
      attributes: { ...ALL, 'holdfast.outcome': 'granted' },
      value: expect.objectContaining({ count: 2 }),
    });
    expect(waits).toContainEqual({
      attributes: { ...ALL, 'holdfast.outcome': 'timeout' },
      value: expect.objectContaining({ count: 1 }),
    });
    const [held] = (await telemetry.points('holdfast.hold.duration')) ?? [];
    expect(held?.attributes).toEqual({ ...ALL, 'holdfast.ended': 'released' });
    expect(held?.value).toMatchObject({ count: 2, buckets: { boundaries: expect.arrayContaining([0.001]) } });
    expect(await telemetry.points('holdfast.wait.contended')).toEqual([{ attributes: ALL, value: 2 }]);
    expect(await telemetry.points('holdfast.wait.timeouts')).toEqual([{ attributes: ALL, value: 1 }]);
    expect(await telemetry.points('holdfast.hold.active')).toEqual([{ attributes: ALL, value: 0 }]);
    expect(await telemetry.points('holdfast.wait.active')).toEqual([{ attributes: ALL, value: 0 }]);
  });

  it('count losses by reason, from 0 on, and renewals', async () => {
    const telemetry = startTelemetry({ groupName: (name) => name.split(':')[0] ?? '' });
    const client = await connect({ watchdogMs: 900 });
    const name = randomName('ledger');
    const hold = await client.getLock(name).lock();
    const losses = async (reason: string) =>
      (await telemetry.points('holdfast.hold.losses'))?.find(
        ({ attributes }) => attributes['holdfast.loss.reason'] === reason,
      );
    const attributes = { 'holdfast.group': 'ledger', 'holdfast.kind': 'lock' };
    expect(await losses('expired')).toEqual({
      attributes: { ...attributes, 'holdfast.loss.reason': 'expired' },
      value: 0,
    });
    const raw = await openShared();
    await raw.command('DEL', name);
    await eventually(() => hold.signal.aborted);
    await eventually(async () => expect(await losses('notOwner')).toMatchObject({ value: 1 }));
    expect(await losses('expired')).toMatchObject({ value: 0 });
    const renewals = await telemetry.points('holdfast.renewals');
    expect(
      renewals?.find((point) => point.attributes['holdfast.outcome'] === 'renewed')?.value,
    ).toBeGreaterThan(0);
  });

  it('go to another provider from then on, with what is held', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    await using _hold = await client.getLock(randomName()).lock();
    const kept = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter: kept, exportIntervalMillis: 2 ** 30 });
    const provider = new MeterProvider({ readers: [reader] });
    onTestFinished(() => provider.shutdown());
    telemetry.instrumentation.setMeterProvider(provider);
    const { resourceMetrics } = await reader.collect();
    const [metrics] = resourceMetrics.scopeMetrics.map((scope) => scope.metrics);
    const active = metrics?.find(({ descriptor }) => descriptor.name === 'holdfast.hold.active');
    expect(active?.dataPoints.map(({ value }) => value)).toEqual([1]);
  });

  it('stop with the instrumentation', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    await client.getLock(randomName()).withLock(() => {});
    telemetry.disable();
    const before = await telemetry.points('holdfast.hold.duration');
    await client.getLock(randomName()).withLock(() => {});
    expect(await telemetry.points('holdfast.hold.duration')).toEqual(before);
  });
});
