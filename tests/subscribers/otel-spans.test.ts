/** The spans of `holdfast/otel`, by OpenTelemetry's own SDK: whose children they are, their links, attributes and ends. */
import { SpanStatusCode } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, openShared, ownProxy, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { startTelemetry } from './support/otel.ts';

async function connect(options: ClientOptions = {}, url = sharedServer().url): Promise<Holdfast> {
  const client = await Holdfast.connect(url, options);
  onTestFinished(() => client.close());
  return client;
}

describe('spans', () => {
  it('of a call, its hold and its release belong to the caller, and are linked', async () => {
    const telemetry = startTelemetry();
    const client = await connect({ label: 'billing' });
    const name = randomName();
    let [owner, token] = ['', 0];
    const caller = await telemetry.inSpan('caller', async () => {
      const hold = await client.getFencedLock(name).lock();
      ({ owner, token } = hold);
      await hold.unlock();
    });
    const { traceId, spanId } = caller.spanContext();
    const spans = telemetry.spans(name);
    expect(spans.map((span) => span.name).sort()).toEqual([
      'holdfast.acquire',
      'holdfast.hold',
      'holdfast.release',
    ]);
    const [acquire, hold, release] = ['acquire', 'hold', 'release'].map((step) =>
      spans.find((span) => span.name === `holdfast.${step}`),
    );
    for (const span of spans) {
      expect(span.spanContext().traceId).toBe(traceId);
      expect(span.parentSpanContext?.spanId).toBe(spanId);
      expect(span.status.code).toBe(SpanStatusCode.UNSET);
      expect(span.instrumentationScope).toMatchObject({ name: 'holdfast', version: '0.1.0' });
      expect(span.attributes).toMatchObject({
        'db.system.name': 'redis',
        'holdfast.kind': 'fenced',
        'holdfast.client.label': 'billing',
        'holdfast.owner': owner,
      });
    }
    expect(acquire?.attributes).toMatchObject({
      'holdfast.outcome': 'granted',
      'holdfast.attempts': 1,
      'holdfast.contended': false,
      'holdfast.token': token,
    });
    expect(acquire?.links).toEqual([]);
    expect(hold?.links.map((link) => link.context.spanId)).toEqual([acquire?.spanContext().spanId]);
    expect(hold?.attributes).toMatchObject({ 'holdfast.ended': 'released', 'holdfast.token': token });
    expect(release?.links.map((link) => link.context.spanId)).toEqual([hold?.spanContext().spanId]);
    expect(release?.attributes).toMatchObject({ 'holdfast.outcome': 'released' });
  });

  it('of a call without a span around it begin traces', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    const name = randomName();
    await client.getLock(name).withLock(() => {});
    const spans = telemetry.spans(name);
    expect(spans).toHaveLength(3);
    expect(spans.map((span) => span.parentSpanContext)).toEqual([undefined, undefined, undefined]);
  });

  it('of a call that is refused in time show no error', async () => {
    const telemetry = startTelemetry();
    const [client, rival] = await Promise.all([connect(), connect()]);
    const name = randomName();
    await using _hold = await client.getLock(name).lock();
    expect(await rival.getLock(name).tryLock({ waitMs: 20 })).toBeNull();
    const span = telemetry.spans(name).find(({ attributes }) => attributes['holdfast.outcome'] === 'timeout');
    expect(span).toMatchObject({ name: 'holdfast.acquire', status: { code: SpanStatusCode.UNSET } });
    expect(span?.attributes['holdfast.contended']).toBe(true);
    expect(span?.attributes['holdfast.attempts']).toBeGreaterThan(0);
  });

  it('of a call that its caller aborts show no error', async () => {
    const telemetry = startTelemetry();
    const [client, rival] = await Promise.all([connect(), connect()]);
    const name = randomName();
    await using _hold = await client.getLock(name).lock();
    const waiting = rival.getLock(name).lock({ signal: AbortSignal.timeout(20) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    const span = telemetry.spans(name).find(({ attributes }) => attributes['holdfast.outcome'] === 'aborted');
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('of a call that fails have its error', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    const name = randomName();
    const raw = await openShared();
    await raw.command('LPUSH', name, 'not a lock');
    await expect(client.getLock(name).lock()).rejects.toMatchObject({ code: 'ERR_DRIVER' });
    const [span, ...others] = telemetry.spans(name);
    expect(others).toEqual([]);
    expect(span).toMatchObject({
      name: 'holdfast.acquire',
      status: { code: SpanStatusCode.ERROR, message: expect.stringContaining(name) },
      attributes: { 'holdfast.outcome': 'failed', 'error.type': 'ERR_DRIVER' },
    });
    expect(span?.events).toEqual([
      expect.objectContaining({
        name: 'exception',
        attributes: expect.objectContaining({ 'exception.type': 'ERR_DRIVER' }),
      }),
    ]);
  });

  it('of a lock that is passed on belong to the caller that gets it', async () => {
    const telemetry = startTelemetry();
    const client = await connect({ passOn: { maxMs: 10_000 } });
    const name = randomName();
    const lock = client.getLock(name);
    const first = await lock.lock();
    // The first that waits asks the server; the next one waits behind it, in this process.
    const second = lock.lock();
    let third: Promise<unknown> | undefined;
    const caller = await telemetry.inSpan('third caller', async () => {
      third = lock.lock().then((hold) => hold.unlock());
    });
    await telemetry.inSpan('first releaser', () => first.unlock());
    await telemetry.inSpan('second releaser', async () => (await second).unlock());
    await third;
    const { spanId } = caller.spanContext();
    const ofThird = telemetry.spans(name).filter((span) => span.parentSpanContext?.spanId === spanId);
    const acquire = ofThird.find((span) => span.name === 'holdfast.acquire');
    const hold = ofThird.find((span) => span.name === 'holdfast.hold');
    expect(acquire?.attributes).toMatchObject({ 'holdfast.attempts': 0, 'holdfast.contended': true });
    expect(hold?.links.map((link) => link.context.spanId)).toEqual([acquire?.spanContext().spanId]);
    // It has the field of the second, of the first too if that found it waiting; only the last holder sends a release.
    const owner = hold?.attributes['holdfast.owner'];
    const ofField = telemetry.spans(name).filter(({ attributes }) => attributes['holdfast.owner'] === owner);
    const steps = ofField.map((span) => span.name);
    expect(steps.filter((step) => step === 'holdfast.hold').length).toBeGreaterThanOrEqual(2);
    expect(steps.filter((step) => step === 'holdfast.release')).toHaveLength(1);
  });

  it('of the members of a multi lock say so, and belong to the caller too', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    const names = [randomName(), randomName()];
    const caller = await telemetry.inSpan('caller', () => client.withLocks(names, () => {}));
    const ofMembers = names.flatMap((name) => telemetry.spans(name));
    expect(ofMembers.map((span) => span.name).sort()).toEqual([
      ...['holdfast.acquire', 'holdfast.acquire'],
      ...['holdfast.hold', 'holdfast.hold'],
      ...['holdfast.release', 'holdfast.release'],
    ]);
    const marked = ofMembers.filter(({ attributes }) => attributes['holdfast.member'] === true);
    expect(marked).toHaveLength(4);
    const { traceId } = caller.spanContext();
    expect(new Set(ofMembers.map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
  });

  it('of sections with permits of a semaphore are holds without an owner', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    const semaphore = client.getSemaphore(randomName(), { permits: 2 });
    await Promise.all([semaphore.withPermit(() => {}), semaphore.withPermit(() => {})]);
    const spans = telemetry.spans(semaphore.name);
    const named = (name: string) => spans.filter((span) => span.name === name);
    expect(named('holdfast.hold').map(({ attributes, links }) => [attributes, links.length])).toEqual([
      [expect.not.objectContaining({ 'holdfast.owner': expect.anything() }), 1],
      [expect.not.objectContaining({ 'holdfast.owner': expect.anything() }), 1],
    ]);
    // Which of the two sections a release belongs to, its message does not tell.
    expect(named('holdfast.release').map(({ links }) => links)).toEqual([[], []]);
  });

  it('of a hold that is lost say why', async () => {
    const telemetry = startTelemetry();
    const client = await connect({ watchdogMs: 900 });
    const name = randomName();
    const hold = await client.getLock(name).lock();
    const raw = await openShared();
    await raw.command('DEL', name);
    await eventually(() => hold.signal.aborted);
    const [span] = telemetry.spans(name).filter(({ name: step }) => step === 'holdfast.hold');
    expect(span).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'lost: notOwner' },
      attributes: { 'holdfast.ended': 'lost', 'holdfast.loss.reason': 'notOwner' },
    });
    expect(span?.events.map((event) => event.name)).toEqual(['holdfast.lost']);
  });

  itWithProcess('of a hold whose renewals fail say that it is at risk', async () => {
    const telemetry = startTelemetry();
    const proxy = await ownProxy(await ownServer());
    const client = await connect({ watchdogMs: 6_000, commandTimeoutMs: 1_000 }, proxy.url);
    const name = randomName();
    const hold = await client.getLock(name).lock();
    proxy.blackhole();
    await eventually(() => hold.signal.aborted, { withinMs: 15_000 });
    const span = telemetry.spans(name).find(({ name: step }) => step === 'holdfast.hold');
    expect(span?.attributes['holdfast.loss.reason']).toBe('unreachable');
    expect(span?.events.map((event) => event.name)).toEqual(['holdfast.at_risk', 'holdfast.lost']);
    expect(span?.events[0]?.attributes).toEqual({
      'holdfast.remaining': expect.any(Number),
      'error.type': 'Error',
    });
  });
});

describe('disabling', () => {
  it('ends what is open, and is heard no more', async () => {
    const telemetry = startTelemetry();
    const client = await connect();
    const [before, during] = [randomName(), randomName()];
    const hold = await client.getLock(before).lock();
    telemetry.disable();
    const [, open] = telemetry.spans(before);
    expect(open).toMatchObject({ name: 'holdfast.hold', ended: true });
    expect(open?.events.map((event) => event.name)).toEqual(['holdfast.unobserved']);
    await hold.unlock();
    await client.getLock(during).withLock(() => {});
    expect(telemetry.spans(during)).toEqual([]);
    expect(telemetry.spans(before)).toHaveLength(2);
  });

  it('can be undone', async () => {
    const telemetry = startTelemetry({ enabled: false });
    // Registering has enabled it; doing so twice changes nothing.
    telemetry.instrumentation.enable();
    const client = await connect();
    const [first, second] = [randomName(), randomName()];
    await client.getLock(first).withLock(() => {});
    expect(telemetry.spans(first)).toHaveLength(3);
    telemetry.instrumentation.disable();
    const hold = await client.getLock(second).lock();
    telemetry.instrumentation.enable();
    await hold.unlock();
    // Its beginning was not heard.
    expect(telemetry.spans(second).map((span) => span.name)).toEqual(['holdfast.release']);
  });
});
