/** What is taken over from looks at the servers, what is told of it, and when that is taken back. */
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../src/drivers/call-timeout.ts';
import type { ScriptReply } from '../../../src/drivers/driver.ts';
import type { ClientEvents, Report } from '../../../src/events.ts';
import type { Requirements } from '../../../src/preflight/capabilities.ts';
import { Preflight } from '../../../src/preflight/preflight.ts';
import type { ServerFacts } from '../../../src/preflight/server-facts.ts';
import { ReplicaCounts } from '../../../src/requests/replica-counts.ts';
import { WakeChannels } from '../../../src/runtime/wake/channels.ts';
import { Warnings } from '../../../src/telemetry/warnings.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { CarryingDriver } from '../support/carrying-driver.ts';
import { refusal } from '../support/deferred.ts';

const ID = 'ab'.repeat(20);

/** Longer than the pause between looks. */
const PAUSE_MS = 1_000;

class TwoPrimaries extends CarryingDriver {
  override nodes(): string[] {
    return ['A', 'B'];
  }
}

function factsOf(node: string, changes: Partial<ServerFacts> = {}): ServerFacts {
  return {
    node,
    info: true,
    server: 'redis',
    version: '7.2.4',
    redisVersion: '7.2.4',
    isCluster: true,
    isReplica: false,
    evictionPolicy: 'noeviction',
    mayEvictLocks: false,
    persistence: null,
    replicas: 0,
    replicaStates: [],
    goodReplicas: null,
    replicationId: ID,
    clockSkewMs: 0,
    publishing: 'allowed',
    latencyMs: 1,
    ...changes,
  };
}

function setUp({
  driver = new CarryingDriver(),
  ...wished
}: { driver?: CarryingDriver } & Partial<Requirements> = {}) {
  const clock = new ManualClock();
  const warnings = new Warnings();
  const told: string[] = [];
  const report: Report = (event, payload) => {
    const warning = payload as ClientEvents['warning'];
    if (event === 'warning' && warnings.isNews(warning)) told.push(warning.code);
  };
  const requirements: Requirements = {
    library: 'hand-driven',
    topology: 'cluster',
    replicas: 'auto',
    guard: { on: false, graceMs: 30_000 },
    ...wished,
  };
  const replicaCounts = new ReplicaCounts({
    clock,
    requirement: requirements.replicas,
    expected: 0,
    topology: 'standalone',
  });
  const channels = new WakeChannels('sharded');
  const preflight = new Preflight({
    driver,
    clock,
    report,
    warnings,
    requirements,
    replicaCounts,
    channels,
    keyFor: (text) => `key of ${text}`,
    onPrimary: ({ node, replicas }) => {
      if (replicas !== null) replicaCounts.counted(node, replicas);
    },
  });
  const standing = () => [...warnings].map(({ code }) => code);
  return { replicaCounts, channels, clock, driver, preflight, report, standing, told, warnings };
}

/** Has the server looked at, or looked at anew; `replicas` are connected, and WAIT is answered so. */
async function look(
  { clock, driver, preflight }: ReturnType<typeof setUp>,
  replicas: number,
  wait: ScriptReply | Error,
) {
  const lines = Array.from(
    { length: replicas },
    (_, i) => `slave${i}:port=6380,state=online,offset=1,lag=0\r\n`,
  );
  const info =
    `redis_version:7.2.4\r\ncluster_enabled:1\r\nconnected_slaves:${replicas}\r\n${lines.join('')}` +
    `master_replid:${ID}\r\n`;
  driver.reply = async () => ['server', String(Date.now()), info, ''];
  const openedBefore = driver.opened.length;
  if (driver.run.length === 0) preflight.begin();
  else preflight.onRecovered();
  await clock.advance(PAUSE_MS);
  if (driver.opened.length === openedBefore) return;
  const answer = driver.connection.answer(0);
  if (wait instanceof Error) answer.reject(wait);
  else answer.resolve(wait);
  await clock.advance(0);
}

describe('channels', () => {
  it.each([
    ['unknown', 'plain'],
    ['forbidden', 'sharded'],
    ['allowed', 'sharded'],
  ] as const)('are sharded only if every server supports it: one answers %s', (publishing, kind) => {
    const { channels, preflight } = setUp({ driver: new TwoPrimaries() });
    preflight.learn([factsOf('A'), factsOf('B', { publishing })]);
    expect(channels.kind).toBe(kind);
  });
});

describe('a guard that only some locks have', () => {
  const replicated = factsOf('A', { replicas: 1 });

  it('warns of its obstacles as soon as the first such lock is made', () => {
    const { preflight, told } = setUp();
    preflight.learn([replicated]);
    expect(told).toEqual([]);
    preflight.expectGuard();
    expect(told).toEqual(['HOLDFAST_SPLIT_BRAIN']);
    preflight.expectGuard();
    preflight.learn([replicated]);
    expect(told).toEqual(['HOLDFAST_SPLIT_BRAIN']);
  });

  it('made before the first check, warns with the first check', () => {
    const { preflight, told } = setUp();
    preflight.expectGuard();
    expect(told).toEqual([]);
    preflight.learn([factsOf('A', { replicationId: '' })]);
    expect(told).toEqual(['HOLDFAST_NO_GUARD']);
  });
});

describe('replicas without permission for WAIT', () => {
  it('are skipped by all locks once one acquisition is refused', async () => {
    const stage = setUp();
    await look(stage, 1, 0);
    expect((await stage.preflight.capabilities()).replicas).toMatchObject({ required: 1, obstacle: null });
    stage.replicaCounts.refused('A', refusal());
    expect((await stage.preflight.capabilities()).replicas).toMatchObject({
      connected: 1,
      required: 0,
      obstacle: expect.stringContaining('NOPERM'),
    });
    expect(stage.preflight.findings()).toMatchObject([{ code: 'HOLDFAST_NO_REPLICAS' }]);
  });

  it('are used again when a check finds WAIT permitted, and the warning is cleared', async () => {
    const stage = setUp();
    await look(stage, 1, refusal());
    expect(stage.told).toEqual(['HOLDFAST_NO_REPLICAS']);
    expect(stage.replicaCounts.refusal).toContain('NOPERM');
    await look(stage, 1, 0);
    expect(stage.replicaCounts.refusal).toBeNull();
    expect(stage.standing()).toEqual([]);
  });

  it('are used again also if an acquisition found the refusal first', async () => {
    const stage = setUp();
    await look(stage, 1, 0);
    stage.replicaCounts.refused('A', refusal());
    stage.report('warning', { code: 'HOLDFAST_NO_REPLICAS', message: 'NOPERM' });
    await look(stage, 1, 0);
    expect(stage.replicaCounts.refusal).toBeNull();
    expect(stage.standing()).toEqual([]);
  });
});

describe('replicas of one primary without permission for WAIT', () => {
  it('are skipped there only, and used there again', async () => {
    const stage = setUp({ driver: new TwoPrimaries() });
    stage.preflight.learn([factsOf('A', { replicas: 1 }), factsOf('B', { replicas: 1 })]);
    stage.replicaCounts.refused('B', refusal());
    expect(stage.replicaCounts.required('A', 1)).toBe(1);
    expect(stage.replicaCounts.required('B', 1)).toBe(0);
    stage.driver.homes.set('0', 'B');
    await look(stage, 1, 0);
    expect(stage.driver.opened).toHaveLength(1);
    expect(stage.replicaCounts.refusal).toBeNull();
  });

  it('are forgotten with it', () => {
    const stage = setUp();
    stage.replicaCounts.refused('gone', refusal());
    expect(stage.replicaCounts.refusal).toMatch(/^gone: NOPERM/);
    stage.preflight.learn([factsOf('A')]);
    expect(stage.replicaCounts.refusal).toBeNull();
  });
});

describe('a periodic check', () => {
  it('sends no message, unless one was refused', async () => {
    const stage = setUp();
    const published: unknown[] = [];
    const lookLater = async () => {
      await look(stage, 0, 0);
      const { reply } = stage.driver;
      stage.driver.reply = (sha1, keys, args) => {
        published.push(args[0]);
        return reply(sha1, keys, args);
      };
      stage.clock.jump(30_000);
      refusalOf(stage.preflight, stage.clock.now());
      await stage.clock.advance(0);
    };
    await lookLater();
    expect(published).toEqual(['']);
    stage.report('warning', { code: 'HOLDFAST_NO_PUBLISH', message: 'refused' });
    published.length = 0;
    stage.clock.jump(30_000);
    refusalOf(stage.preflight, stage.clock.now());
    await stage.clock.advance(0);
    expect(published).toEqual(['SPUBLISH']);
    expect(stage.standing()).toEqual([]);
  });

  it('also happens if the first check failed, once a check has succeeded', async () => {
    const stage = setUp();
    stage.driver.reply = async () => {
      throw refusal('LOADING the server loads its data');
    };
    stage.preflight.begin();
    await stage.clock.advance(0);
    await look(stage, 0, 0);
    const asked = stage.driver.run.length;
    stage.clock.jump(30_000);
    refusalOf(stage.preflight, stage.clock.now());
    await stage.clock.advance(0);
    expect(stage.driver.run.length).toBeGreaterThan(asked);
  });
});

describe('a majority', () => {
  it('that is lost with its replicas is required until they are back', async () => {
    const stage = setUp({ replicas: 'majority' });
    await look(stage, 2, 0);
    expect(stage.told).toEqual([]);
    await look(stage, 0, 0);
    expect(stage.told).toEqual(['HOLDFAST_FEW_REPLICAS']);
    expect((await stage.preflight.capabilities()).replicas).toMatchObject({ connected: 0, required: 1 });
    await look(stage, 1, 0);
    expect(stage.standing()).toEqual([]);
  });
});
