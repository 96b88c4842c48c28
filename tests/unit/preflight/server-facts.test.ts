/** What is read from the words of servers that are not at hand, and what becomes of several. */
import { describe, expect, it } from 'vitest';
import type { ChannelKind } from '../../../src/drivers/driver.ts';
import { isOlder, type Requirements, summarize } from '../../../src/preflight/capabilities.ts';
import { findingsOf, unfitnessOf, unfulfilled } from '../../../src/preflight/findings.ts';
import {
  type Publishing,
  readFacts,
  readReplication,
  type ServerFacts,
} from '../../../src/preflight/server-facts.ts';
import { ReplicaCounts } from '../../../src/requests/replica-counts.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const ID = 'ab'.repeat(20);
/** What a primary says of a replica that acknowledges. */
const IN_SYNC = 'ip=10.0.0.2,port=6380,state=online,offset=486,lag=1';
const TRIP = { sentAtWallMs: 10_000, answeredAtWallMs: 10_020, latencyMs: 20 };

function info(changes: Record<string, string | null> = {}): string {
  const fields: Record<string, string | null> = {
    redis_version: '7.2.4',
    maxmemory: '0',
    maxmemory_policy: 'noeviction',
    aof_enabled: '1',
    rdb_last_bgsave_status: 'ok',
    aof_last_write_status: 'ok',
    aof_last_bgrewrite_status: 'ok',
    role: 'master',
    connected_slaves: '2',
    master_replid: ID,
    master_repl_offset: '500',
    cluster_enabled: '0',
    ...changes,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === null ? [] : [`${name}:${value}`],
  );
  for (let i = 0; i < Number(fields['connected_slaves']); i += 1) lines.push(`slave${i}:${IN_SYNC}`);
  return `# Section\r\n${lines.join('\r\n')}\r\n`;
}

interface Said {
  readonly node?: string;
  readonly info?: string;
  readonly nowMs?: number;
  readonly refusal?: string;
  /** The command that was refused, or taken. */
  readonly tried?: Publishing;
}

function facts({
  node = '',
  nowMs = 10_010,
  refusal = '',
  tried = 'PUBLISH',
  ...said
}: Said = {}): ServerFacts {
  return readFacts(node, { status: 'server', nowMs, refusal, info: said.info ?? info() }, TRIP, tried);
}

const REQUIREMENTS: Requirements = {
  library: 'ioredis',
  topology: 'standalone',
  replicas: 'auto',
  guard: { on: false, graceMs: 30_000 },
};

/** What was found out besides. */
interface Experienced {
  readonly expected?: number;
  readonly refusal?: string | null;
  readonly channels?: ChannelKind;
  readonly isDeaf?: boolean;
  /** How the servers were before. */
  readonly before?: readonly ServerFacts[];
}

function summary(
  all: readonly ServerFacts[],
  changes: Partial<Requirements> = {},
  { expected = 0, refusal = null, channels = 'plain', isDeaf = false, before = [] }: Experienced = {},
) {
  const requirements = { ...REQUIREMENTS, ...changes };
  const replicaCounts = new ReplicaCounts({
    clock: new ManualClock(),
    requirement: requirements.replicas,
    expected,
    topology: 'standalone',
  });
  if (refusal !== null) for (const { node } of all) replicaCounts.refused(node, refusal);
  for (const { node, replicas } of [...before, ...all])
    if (replicas !== null) replicaCounts.counted(node, replicas);
  return summarize(all, requirements, { replicaCounts, channels, isDeaf });
}

/** So many replicas are connected to it. */
function withReplicas(connected: number, node = ''): ServerFacts {
  return facts({ node, info: info({ connected_slaves: String(connected) }) });
}

describe('the facts of a server', () => {
  it.each([
    ['valkey', { valkey_version: '8.1.1' }, 'valkey', '8.1.1'],
    ['redis', {}, 'redis', '7.2.4'],
  ] as const)('name %s and its own version', (_title, changes, server, version) => {
    expect(facts({ info: info(changes) })).toMatchObject({ server, version, redisVersion: '7.2.4' });
  });

  it.each([
    ['nothing', '', 'allowed'],
    [
      'the command, before 7.2',
      "ERR The user executing the script can't run this command or subcommand",
      'forbidden',
    ],
    ['the command', "NOPERM User limited has no permissions to run the 'publish' command", 'forbidden'],
    [
      'the channel, before 7.2',
      "ERR The user executing the script can't publish to the channel",
      'elsewhere',
    ],
    ['the channel', "NOPERM User limited has no permissions to access the 'x' channel", 'elsewhere'],
  ])('follow from refused commands: %s', (_title, refusal, publishing) => {
    for (const tried of ['PUBLISH', 'SPUBLISH'] as const) {
      expect(facts({ refusal, tried }).publishing).toBe(publishing);
    }
  });

  it.each([
    ['SPUBLISH', 'unknown'],
    ['PUBLISH', 'forbidden'],
  ] as const)('treat an unknown command as old or disabled: %s', (tried, publishing) => {
    for (const refusal of ['ERR Unknown Redis command called from script', 'ERR unknown command']) {
      expect(facts({ refusal, tried }).publishing).toBe(publishing);
    }
  });

  it('report nothing about messages if none was sent', () => {
    expect(facts({ tried: '' }).publishing).toBeUndefined();
  });

  it('name every replica with what it has not acknowledged', () => {
    const syncing = 'slave1:ip=10.0.0.3,port=6381,state=wait_bgsave,offset=0,lag=0';
    const text = `${info({ connected_slaves: '1' })}${syncing}\r\n`;
    expect(facts({ info: text }).replicaStates).toEqual([
      { node: '10.0.0.2:6380', state: 'online', lagBytes: 14 },
      { node: '10.0.0.3:6381', state: 'wait_bgsave', lagBytes: 500 },
    ]);
    expect(withReplicas(0).replicaStates).toEqual([]);
    expect(facts({ info: '' }).replicaStates).toEqual([]);
  });

  it('do not treat an unreported number of replicas as zero', () => {
    expect(facts({ info: info({ connected_slaves: null }) })).toMatchObject({ info: true, replicas: null });
    expect(withReplicas(0).replicas).toBe(0);
  });

  it.each([
    [1, 'acknowledges', `slave0:${IN_SYNC}`],
    [1, 'acknowledges, in the words of Valkey', `slave0:${IN_SYNC},type=replica`],
    [1, 'acknowledges, should servers say replica', `replica0:${IN_SYNC}`],
    [1, 'has an address of version 6', 'slave0:ip=fd00::2,port=6380,state=online,offset=486,lag=0'],
    [1, 'acknowledged by a clock that was set back', 'slave0:ip=::1,port=1,state=online,offset=486,lag=-9'],
    [1, 'was heard of a minute ago', 'slave0:ip=10.0.0.2,port=6380,state=online,offset=486,lag=60'],
    [0, 'has been silent for longer', 'slave0:ip=10.0.0.2,port=6380,state=online,offset=486,lag=61'],
    [0, 'waits for a snapshot', 'slave0:ip=10.0.0.2,port=6380,state=wait_bgsave,offset=0,lag=0'],
    [0, 'receives a snapshot', 'slave0:ip=10.0.0.2,port=6380,state=send_bulk,offset=0,lag=0'],
    [0, 'receives two streams', 'slave0:ip=::1,port=6380,state=send_bulk_and_stream,offset=0,lag=0'],
    [0, 'loads a snapshot', 'slave0:ip=10.0.0.2,port=6380,state=online,offset=0,lag=0'],
    [0, 'wanted the snapshot only', 'slave0:ip=10.0.0.2,port=0,state=rdb_transmitted,offset=0,lag=0'],
    [0, 'never acknowledges', 'slave0:ip=10.0.0.2,port=0,state=online,offset=0,lag=4'],
    [0, 'is not described', ''],
    [
      0,
      'has two connections while it loads',
      'slave0:ip=10.0.0.2,port=6380,state=bg_transfer,offset=0,lag=0,type=main-channel\r\n' +
        'slave1:ip=10.0.0.2,port=6380,state=send_bulk,offset=0,lag=0,type=rdb-channel',
    ],
  ])('count replicas that acknowledge: %d that %s', (replicas, _title, lines) => {
    const text = `connected_slaves:1\r\n${lines}\r\nmaster_replid:${ID}\r\nmaster_repl_offset:500\r\n`;
    expect(readReplication(text)).toEqual({ replicas, replicationId: ID });
  });

  it.each([
    [1, 'a replica', 6380],
    [0, 'a reader', 0],
  ])('count by the port before anything was written: %d for %s', (replicas, _title, port) => {
    const line = `slave0:ip=10.0.0.2,port=${port},state=online,offset=0,lag=1`;
    const text = `connected_slaves:1\r\n${line}\r\nmaster_repl_offset:0\r\n`;
    expect(readReplication(text).replicas).toBe(replicas);
  });

  it.each([
    [10_000, 0],
    [10_020, 0],
    [10_021, 1],
    [9_999, -1],
    [70_020, 60_000],
  ])('do not treat the time of the answer as clock skew: %d', (nowMs, clockSkewMs) => {
    expect(facts({ nowMs }).clockSkewMs).toBe(clockSkewMs);
  });

  it.each(['rdb_last_bgsave_status', 'aof_last_write_status', 'aof_last_bgrewrite_status'])(
    'detect a failing disk by %s',
    (name) => {
      expect(facts({ info: info({ [name]: 'err' }) }).persistence).toEqual({
        appendOnly: true,
        failing: true,
      });
    },
  );

  it.each([
    ['0', 'allkeys-lru', false],
    ['1', 'noeviction', false],
    ['1', 'volatile-ttl', true],
  ])('detect eviction: maxmemory %s with %s', (maxmemory, policy, mayEvictLocks) => {
    expect(facts({ info: info({ maxmemory, maxmemory_policy: policy }) }).mayEvictLocks).toBe(mayEvictLocks);
  });
});

describe('versions', () => {
  it.each([
    ['6.0.5', true],
    ['6.0.6', false],
    ['5.9.9', true],
    ['6.0.16', false],
    ['6.2', false],
    ['10.0.0', false],
    ['6.0', true],
    ['7.0.0-rc1', false],
  ])('are compared by their numbers: %s', (version, older) => {
    expect(isOlder(version, '6.0.6')).toBe(older);
    expect(unfitnessOf([facts({ info: info({ redis_version: version }) })], REQUIREMENTS) !== undefined).toBe(
      older,
    );
  });

  it('that are not reported do not disqualify a server', () => {
    expect(unfitnessOf([facts({ info: '' })], REQUIREMENTS)).toBeUndefined();
  });
});

describe('several primaries', () => {
  it('are as good as the weakest', () => {
    const all = [
      facts({ node: 'a:1', info: info({ redis_version: '7.2.10' }) }),
      facts({
        node: 'b:1',
        nowMs: 4_000,
        info: info({
          redis_version: '7.2.9',
          connected_slaves: '0',
          maxmemory: '1',
          maxmemory_policy: 'allkeys-lfu',
        }),
      }),
      facts({ node: 'c:1', nowMs: 12_020, info: info({ aof_enabled: '0', min_slaves_good_slaves: '1' }) }),
    ];
    expect(summary(all, { topology: 'cluster' }, { channels: 'sharded' })).toEqual({
      library: 'ioredis',
      topology: 'cluster',
      primaries: 3,
      info: true,
      server: 'redis',
      version: '7.2.4',
      evictionPolicy: 'allkeys-lfu',
      mayEvictLocks: true,
      persistence: { appendOnly: false, failing: false },
      replicas: { connected: 0, required: 0, obstacle: null, stopsAlone: false },
      guard: { on: false, graceMs: 30_000, obstacle: null },
      pubSub: 'sharded',
      clockSkewMs: -6_000,
    });
  });

  it('are unknown if one of them does not report', () => {
    const all = [facts({ node: 'a:1' }), facts({ node: 'b:1', info: '' })];
    expect(summary(all)).toMatchObject({
      info: false,
      version: null,
      persistence: null,
      replicas: { connected: null, required: 0, obstacle: expect.stringContaining('INFO'), stopsAlone: null },
      guard: { obstacle: expect.stringContaining('INFO') },
    });
  });

  it('lack as many replicas as the primary that lacks the most', () => {
    const before = [withReplicas(2, 'a:1'), withReplicas(4, 'b:1'), withReplicas(2, 'c:1')];
    const all = [withReplicas(1, 'a:1'), withReplicas(1, 'b:1'), withReplicas(1, 'c:1')];
    const requirements = { topology: 'cluster', replicas: 'majority' } as const;
    expect(summary(all, requirements, { before }).replicas).toMatchObject({ connected: 1, required: 2 });
  });
});

describe('wake-ups', () => {
  it.each([
    ['sharded', false, 'sharded'],
    ['plain', false, 'plain'],
    ['sharded', true, 'polling'],
    ['plain', true, 'polling'],
  ] as const)('travel by %s channels, refused: %s', (channels, isDeaf, pubSub) => {
    expect(summary([facts()], {}, { channels, isDeaf }).pubSub).toBe(pubSub);
  });
});

describe('acknowledgements', () => {
  it.each([
    ['auto', '2', 0, 1],
    ['auto', '0', 0, 0],
    ['majority', '2', 0, 1],
    ['majority', '1', 4, 2],
    ['majority', '5', 0, 3],
    [0, '2', 0, 0],
    [3, '0', 0, 3],
  ] as const)('%s of %s connected and %d expected: %d', (replicas, connected, expected, required) => {
    const all = [facts({ info: info({ connected_slaves: connected }) })];
    expect(summary(all, { replicas }, { expected }).replicas).toMatchObject({ required, obstacle: null });
  });

  it('of a majority are required also after replicas were lost, with a finding', () => {
    const requirements = { ...REQUIREMENTS, replicas: 'majority' } as const;
    const all = [withReplicas(0)];
    const capabilities = summary(all, requirements, { before: [withReplicas(2)] });
    expect(capabilities.replicas).toMatchObject({ connected: 0, required: 1, obstacle: null });
    expect(findingsOf(all, capabilities, requirements, false)).toMatchObject([
      {
        code: 'HOLDFAST_FEW_REPLICAS',
        message: expect.stringMatching(/ 1 replicas must acknowledge it, and only 0 of the connected/),
      },
    ]);
  });

  it('of a majority are required of a promoted primary, as many as of the neighbour with the fewest', () => {
    const before = [withReplicas(3, 'a:1'), withReplicas(5, 'b:1')];
    const all = [withReplicas(3, 'a:1'), withReplicas(5, 'b:1'), withReplicas(0, 'c:1')];
    const requirements = { ...REQUIREMENTS, topology: 'cluster', replicas: 'majority' } as const;
    const capabilities = summary(all, requirements, { before });
    expect(capabilities.replicas).toMatchObject({ connected: 0, required: 2 });
    expect(findingsOf(all, capabilities, requirements, false)).toMatchObject([
      { code: 'HOLDFAST_FEW_REPLICAS' },
    ]);
  });

  it('of a majority that consists of the primary alone are none, with a finding', () => {
    const all = [withReplicas(0)];
    for (const replicas of ['majority', 'auto', 0] as const) {
      const requirements = { ...REQUIREMENTS, replicas };
      const capabilities = summary(all, requirements);
      expect(capabilities.replicas).toMatchObject({ connected: 0, required: 0, obstacle: null });
      expect(findingsOf(all, capabilities, requirements, false)).toMatchObject(
        replicas === 'majority'
          ? [{ code: 'HOLDFAST_FEW_REPLICAS', message: expect.stringContaining('without acknowledgements') }]
          : [],
      );
    }
  });

  it.each([
    ['auto', undefined],
    ['majority', 'ERR_DRIVER'],
  ] as const)('of an unreported number of replicas: %s', (replicas, error) => {
    const requirements = { ...REQUIREMENTS, replicas };
    const all = [facts({ info: info({ connected_slaves: null }) })];
    const capabilities = summary(all, requirements);
    expect(capabilities.replicas).toMatchObject({
      connected: null,
      required: 0,
      obstacle: expect.stringContaining('does not report how many replicas'),
    });
    expect(findingsOf(all, capabilities, requirements, false)).toMatchObject([
      { code: 'HOLDFAST_NO_REPLICAS' },
    ]);
    expect(unfulfilled(capabilities, requirements)?.code).toBe(error);
  });

  it('that are required and not available are an error, optional ones a warning', () => {
    const experience = { refusal: 'NOPERM' };
    for (const replicas of ['auto', 1, 'majority'] as const) {
      const requirements = { ...REQUIREMENTS, replicas };
      const capabilities = summary([facts()], requirements, experience);
      expect(capabilities.replicas.required).toBe(replicas === 'auto' ? 0 : 1);
      expect(findingsOf([facts()], capabilities, requirements, false)).toMatchObject([
        { code: 'HOLDFAST_NO_REPLICAS' },
      ]);
      expect(unfulfilled(capabilities, requirements)?.code).toBe(
        replicas === 'auto' ? undefined : 'ERR_DRIVER',
      );
    }
    expect(summary([facts()], { replicas: 0 }, experience).replicas.obstacle).toBeNull();
  });
});

describe('the guard', () => {
  it('cannot work without a replication id, and reports it', () => {
    const requirements = { ...REQUIREMENTS, guard: { on: true, graceMs: 5_000 } };
    const all = [facts({ info: info({ master_replid: null, connected_slaves: '0' }) })];
    const capabilities = summary(all, requirements);
    expect(capabilities.guard).toEqual({
      on: true,
      graceMs: 5_000,
      obstacle: expect.stringContaining('master_replid'),
    });
    expect(findingsOf(all, capabilities, requirements, true)).toMatchObject([{ code: 'HOLDFAST_NO_GUARD' }]);
    expect(unfulfilled(capabilities, requirements)?.message).toContain('master_replid');
  });

  it.each([
    [{ connected_slaves: '1' }, 'HOLDFAST_SPLIT_BRAIN'],
    [{ master_replid: null, connected_slaves: '0' }, 'HOLDFAST_NO_GUARD'],
  ] as const)('of single locks needs the same, and is reported: %j', (changes, code) => {
    const all = [facts({ info: info(changes) })];
    const capabilities = summary(all);
    expect(findingsOf(all, capabilities, REQUIREMENTS, true)).toMatchObject([{ code }]);
    expect(findingsOf(all, capabilities, REQUIREMENTS, false)).toEqual([]);
    // Only what was asked for all locks keeps a client from being connected.
    expect(unfulfilled(capabilities, REQUIREMENTS)).toBeUndefined();
  });
});
