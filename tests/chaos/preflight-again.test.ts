/** Servers that become others without a call that fails: libraries reconnect, and resend, on their own. */
import { expect, it, onTestFinished } from 'vitest';
import { refusalOf } from '../../src/drivers/call-timeout.ts';
import { openDriver } from '../../src/drivers/connect.ts';
import { Preflight } from '../../src/preflight/preflight.ts';
import { ReplicaCounts } from '../../src/requests/replica-counts.ts';
import { WakeChannels } from '../../src/runtime/wake/channels.ts';
import { Warnings } from '../../src/telemetry/warnings.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';

const REPEAT_MS = 30_000;

async function setUp() {
  const server = await ownServer();
  const { host, port } = server;
  const driver = await openDriver({ kind: 'server', server: { host, port } }, { commandTimeoutMs: 5_000 });
  onTestFinished(() => driver.close());
  const clock = new ManualClock();
  const told: string[] = [];
  const preflight = new Preflight({
    driver,
    clock,
    report: (_event, payload) => told.push((payload as { code: string }).code),
    warnings: new Warnings(),
    requirements: {
      library: 'ioredis',
      topology: 'standalone',
      replicas: 'auto',
      guard: { on: false, graceMs: REPEAT_MS },
    },
    replicaCounts: new ReplicaCounts({ clock, requirement: 'auto', expected: 0, topology: 'standalone' }),
    channels: new WakeChannels('plain'),
    keyFor: (text) => text,
    onPrimary: () => {},
  });
  onTestFinished(() => preflight.close());
  return { clock, preflight, server, told };
}

describeWithProcess('a server that is used', () => {
  it('is checked again now and then, though no call fails', async () => {
    const { clock, preflight, server, told } = await setUp();
    expect(await preflight.capabilities()).toMatchObject({ mayEvictLocks: false });
    await server.command('CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');

    clock.jump(REPEAT_MS - 1);
    expect(refusalOf(preflight, clock.now())).toBeUndefined();
    await clock.advance(0);
    expect(await preflight.capabilities()).toMatchObject({ mayEvictLocks: false });

    clock.jump(1);
    expect(refusalOf(preflight, clock.now())).toBeUndefined();
    await clock.advance(0);
    await eventually(async () => (await preflight.capabilities()).mayEvictLocks);
    expect(told).toEqual(['HOLDFAST_EVICTION']);
  });

  it('is not checked while no call uses it, nor twice for two calls', async () => {
    const { clock, preflight, server } = await setUp();
    await preflight.capabilities();
    const looks = async () => {
      const stats = String(await server.command('INFO', 'commandstats'));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    };
    await server.command('CONFIG', 'RESETSTAT');
    clock.jump(10 * REPEAT_MS);
    await clock.advance(0);
    expect(await looks()).toBe(0);
    for (let calls = 0; calls < 3; calls += 1) {
      refusalOf(preflight, clock.now());
      await clock.advance(0);
      await eventually(async () => (await looks()) === 1);
    }
  });
});
