/** The metrics of `holdfast/prometheus`, as a registry of prom-client shows them. */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry, register } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClientOptions, Holdfast } from '../../src/index.ts';
import { type ObserveOptions, observe } from '../../src/telemetry/prometheus/index.ts';
import { randomName } from '../harness/names.ts';
import { itWithProcess, openShared, ownProxy, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

async function connect(options: ClientOptions = {}, url = sharedServer().url): Promise<Holdfast> {
  const client = await Holdfast.connect(url, options);
  onTestFinished(() => client.close());
  return client;
}

interface Observed {
  readonly registry: Registry;
  stop(): void;
  /** The value of a series; undefined if there is none. */
  read(series: string): Promise<number | undefined>;
}

function observed(options: ObserveOptions = {}): Observed {
  const registry = new Registry();
  const { stop } = observe({ registry, ...options });
  onTestFinished(stop);
  const read = async (series: string) => {
    const line = (await registry.metrics()).split('\n').find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  };
  return { registry, stop, read };
}

const firstPart = (name: string) => name.split(':')[0] ?? '';

describe('observing', () => {
  it('times waits and holds, and counts what is contended and timed out, by group', async () => {
    const { read, registry } = observed({ groupName: firstPart });
    const [client, rival] = await Promise.all([connect(), connect()]);
    const name = randomName('invoice');
    const labels = 'group="invoice",kind="lock"';
    const hold = await client.getLock(name).lock();
    const waiting = rival.getLock(name).lock();
    expect(await read(`holdfast_held{${labels}}`)).toBe(1);
    expect(await read(`holdfast_waiting{${labels}}`)).toBe(1);
    expect(await read(`holdfast_oldest_hold_seconds{${labels}}`)).toBeGreaterThan(0);
    expect(await read(`holdfast_oldest_wait_seconds{${labels}}`)).toBeGreaterThan(0);
    expect(await rival.getLock(name).tryLock()).toBeNull();
    await sleep(20);
    await hold.unlock();
    await (await waiting).unlock();

    expect(await read(`holdfast_wait_seconds_count{${labels},outcome="granted"}`)).toBe(2);
    expect(await read(`holdfast_wait_seconds_sum{${labels},outcome="granted"}`)).toBeGreaterThan(0.015);
    expect(await read(`holdfast_wait_seconds_sum{${labels},outcome="granted"}`)).toBeLessThan(15);
    expect(await read(`holdfast_hold_seconds_count{${labels},ended="released"}`)).toBe(2);
    expect(await read(`holdfast_contended_total{${labels}}`)).toBe(2);
    expect(await read(`holdfast_timeouts_total{${labels}}`)).toBe(1);
    expect(await read(`holdfast_held{${labels}}`)).toBe(0);
    expect(await read(`holdfast_waiting{${labels}}`)).toBe(0);
    expect(await read(`holdfast_oldest_hold_seconds{${labels}}`)).toBe(0);
    expect(await registry.metrics()).not.toContain(name);
  });

  it('never shows names unless it is told to', async () => {
    const { read, registry } = observed();
    const client = await connect();
    const name = randomName('secret');
    await client.getLock(name).withLock(() => {});
    expect(await read('holdfast_hold_seconds_count{group="all",kind="lock",ended="released"}')).toBe(1);
    expect(await registry.metrics()).not.toContain('secret');
  });

  it('counts every kind', async () => {
    const { read } = observed();
    const client = await connect();
    await client
      .getReadWriteLock(randomName())
      .readLock()
      .withLock(() => {});
    await client
      .getReadWriteLock(randomName())
      .writeLock()
      .withLock(() => {});
    await client.getFairLock(randomName()).withLock(() => {});
    const held = 'holdfast_held{group="all",kind="semaphore"}';
    await client.getSemaphore(randomName(), { permits: 2 }).withPermit(async () => {
      expect(await read(held)).toBe(1);
    });
    expect(await read(held)).toBe(0);
    await client.getPermitExpirableSemaphore(randomName(), { permits: 2 }).withPermit(() => {});
    for (const kind of ['read', 'write', 'fair', 'semaphore', 'permitSemaphore']) {
      expect(await read(`holdfast_wait_seconds_count{group="all",kind="${kind}",outcome="granted"}`)).toBe(1);
    }
    const holds = ['read', 'write', 'fair', 'permitSemaphore', 'semaphore'].map((kind) =>
      read(`holdfast_hold_seconds_count{group="all",kind="${kind}",ended="released"}`),
    );
    expect(await Promise.all(holds)).toEqual([1, 1, 1, 1, 1]);
  });

  it('counts a multi lock once, not its members', async () => {
    const { read } = observed();
    const client = await connect();
    await client.withLocks([randomName(), randomName()], async () => {
      expect(await read('holdfast_held{group="all",kind="multi"}')).toBe(1);
      expect(await read('holdfast_held{group="all",kind="lock"}')).toBeUndefined();
    });
    expect(await read('holdfast_hold_seconds_count{group="all",kind="multi",ended="released"}')).toBe(1);
  });

  it('counts losses by reason, from 0 on', async () => {
    const { read } = observed();
    const client = await connect({ watchdogMs: 900 });
    const name = randomName();
    const hold = await client.getLock(name).lock();
    const series = (reason: string) => `holdfast_losses_total{group="all",kind="lock",reason="${reason}"}`;
    expect(await read(series('notOwner'))).toBe(0);
    const raw = await openShared();
    await raw.command('DEL', name);
    await eventually(() => hold.signal.aborted);
    await eventually(async () => expect(await read(series('notOwner'))).toBe(1));
    expect(await read(series('expired'))).toBe(0);
    expect(await read('holdfast_hold_seconds_count{group="all",kind="lock",ended="lost"}')).toBe(1);
    expect(await read('holdfast_held{group="all",kind="lock"}')).toBe(0);
    expect(await read('holdfast_renewals_total{outcome="renewed"}')).toBeGreaterThan(0);
  });

  it('counts stalls and warnings', async () => {
    const { read } = observed();
    const client = await connect({ watchdogMs: 3_000, warnHeldMs: 30 });
    const warned = new Promise((resolve) => client.on('warning', resolve));
    const stalled = new Promise((resolve) => client.on('stalled', resolve));
    const hold = await client.getLock(randomName()).lock();
    await warned;
    // Renewals are due every second.
    const until = performance.now() + 2_300;
    while (performance.now() < until);
    await stalled;
    await hold.unlock();
    expect(await read('holdfast_warnings_total{code="HOLDFAST_HELD_LONG"}')).toBe(1);
    expect(await read('holdfast_stalls_total')).toBeGreaterThan(0);
  });

  it('counts errors in the background, from 0 on', async () => {
    const { read } = observed();
    const client = await connect();
    expect(await read('holdfast_errors_total')).toBe(0);
    const raw = await openShared();
    const semaphore = client.getSemaphore(randomName(), { permits: 1 });
    await semaphore.withPermit(async () => {
      await raw.command('DEL', semaphore.name);
      await raw.command('ZADD', semaphore.name, '1', 'no semaphore');
    });
    // The section reports its failed release, and the client the first repetition that the server refuses.
    await eventually(async () => expect(await read('holdfast_errors_total')).toBe(2));
    // Without the wrong key, the repetitions end.
    await raw.command('DEL', semaphore.name);
  });

  itWithProcess('counts renewals that fail, and the holds that they put at risk', async () => {
    const proxy = await ownProxy(await ownServer());
    const client = await connect({ watchdogMs: 6_000, commandTimeoutMs: 1_000 }, proxy.url);
    // This hold begins before anyone listens; the events tell its kind all the same.
    const older = await client.getFencedLock(randomName('ledger')).lock();
    const { read } = observed({ groupName: firstPart });
    const hold = await client.getLock(randomName('ledger')).lock();
    proxy.blackhole();
    await eventually(() => hold.signal.aborted && older.signal.aborted, { withinMs: 15_000 });
    expect(await read('holdfast_at_risk_total{group="ledger",kind="lock"}')).toBe(1);
    expect(await read('holdfast_at_risk_total{group="ledger",kind="fenced"}')).toBe(1);
    expect(await read('holdfast_renewals_total{outcome="failed"}')).toBeGreaterThan(0);
    expect(await read('holdfast_losses_total{group="ledger",kind="lock",reason="unreachable"}')).toBe(1);
  });

  it('does not count holds down that it has not counted up', async () => {
    const client = await connect();
    const hold = await client.getLock(randomName()).lock();
    const { read } = observed();
    await hold.unlock();
    await client.getLock(randomName()).withLock(() => {});
    expect(await read('holdfast_held{group="all",kind="lock"}')).toBe(0);
  });
});

describe('groups', () => {
  it('are bounded, whatever the function returns', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const { registry, read } = observed({ groupName: (name) => name, maxGroups: 3 });
    const client = await connect();
    const prefix = randomName();
    for (let i = 0; i < 6; i += 1) await client.getLock(`${prefix}:${i}`).withLock(() => {});
    await client.getLock(`${prefix}:0`).withLock(() => {});
    const series = (group: string) =>
      read(`holdfast_hold_seconds_count{group="${group}",kind="lock",ended="released"}`);
    const counts = ['0', '1', '2', '3'].map((i) => series(`${prefix}:${i}`));
    expect(await Promise.all(counts)).toEqual([2, 1, 1, undefined]);
    expect(await series('other')).toBe(3);
    const groups = new Set(
      [...(await registry.metrics()).matchAll(/group="([^"]+)"/g)].map(([, group]) => group),
    );
    expect(groups.size).toBe(4);
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining('more than 3 groups'),
        { type: 'HoldfastWarning', code: 'HOLDFAST_METRIC_GROUPS' },
      ],
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no such name');
      },
      'groupName threw Error: no such name',
    ],
    ['returns nothing', () => undefined as never, 'groupName returned undefined, not a string'],
  ])('of a function that %s are other, and no call fails', async (_, groupName, message) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const { read } = observed({ groupName });
    const client = await connect();
    for (let i = 0; i < 2; i += 1) await client.getLock(randomName()).withLock(() => {});
    expect(await read('holdfast_hold_seconds_count{group="other",kind="lock",ended="released"}')).toBe(2);
    expect(warn.mock.calls.map(([text]) => text)).toEqual([expect.stringContaining(message)]);
  });
});

describe('a registry', () => {
  it('is that of prom-client unless one is given', async () => {
    const { stop } = observe();
    expect(await register.getSingleMetricAsString('holdfast_stalls_total')).toContain(
      'holdfast_stalls_total 0',
    );
    stop();
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it('may be of another copy of prom-client', async () => {
    const require = createRequire(import.meta.url);
    const ours = Object.entries(require.cache).filter(([path]) => path.includes('/prom-client/'));
    for (const [path] of ours) delete require.cache[path];
    const other = require('prom-client') as typeof import('prom-client');
    expect(other.Registry).not.toBe(Registry);
    const registry = new other.Registry();
    observed({ registry });
    const client = await connect();
    await client.getLock(randomName()).withLock(() => {});
    expect(await registry.metrics()).toContain(
      'holdfast_hold_seconds_count{group="all",kind="lock",ended="released"} 1',
    );
  });

  it('loses the metrics when it stops, and can be observed again', async () => {
    const { registry, stop } = observed();
    const client = await connect();
    stop();
    expect(registry.getMetricsAsArray()).toEqual([]);
    await client.getLock(randomName()).withLock(() => {});
    const again = observe({ registry });
    stop();
    expect(registry.getMetricsAsArray().length).toBeGreaterThan(10);
    again.stop();
    expect(registry.getMetricsAsArray()).toEqual([]);
  });

  it('that has metrics of these names keeps them, and gets none of ours', () => {
    const registry = new Registry();
    const { stop } = observe({ registry });
    const before = registry.getMetricsAsArray().length;
    expect(() => observe({ registry })).toThrow('already been registered');
    expect(registry.getMetricsAsArray()).toHaveLength(before);
    const other = observe({ registry, prefix: 'locks_' });
    expect(registry.getMetricsAsArray()).toHaveLength(2 * before);
    other.stop();
    stop();
  });

  it.each([
    [{ prefix: '1st' }, 'prefix must have letters'],
    [{ buckets: [] }, 'buckets must be a list of rising numbers'],
    [{ buckets: [2, 1] }, 'buckets must be a list of rising numbers'],
    [{ buckets: [-1, 1] }, 'a bound of buckets must be a number above 0, not -1'],
    [{ maxGroups: 0 }, 'maxGroups must be a whole number from 1'],
    [{ groupName: 'all' as never }, 'groupName must be a function, not "all"'],
  ])('gets nothing from %j', (options, message) => {
    const registry = new Registry();
    expect(() => observe({ registry, ...options })).toThrow(message);
    expect(registry.getMetricsAsArray()).toEqual([]);
  });
});
