/**
 * Which tests run where: every row is a project of vitest, `npx vitest run --project <name> <file>`. A suite
 * (`*.suite.ts`) runs in several, and learns from `inject` through which library and at which servers.
 */
import type { ProvidedContext } from 'vitest';
import type { OtherServer } from './harness/other-servers.ts';

export type Library =
  | 'ioredis-6'
  | 'ioredis-5'
  | 'iovalkey'
  | 'node-redis-6'
  | 'node-redis-5'
  | 'valkey-glide';
export type Topology = 'standalone' | 'sentinel' | 'cluster';

/**
 * `unit` is what `npm run test:unit` runs. `npm test` runs it and what is `default`; `npm run test:all` runs
 * everything.
 */
export type Tier = 'unit' | 'default' | 'all';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The client library that a suite runs through. */
    library: Library;
    topology: Topology;
    /** The version of Redisson that a suite runs beside. */
    redisson: '4.7.0' | '3.52.0' | '3.17.7' | '3.16.8';
    /** Whether clients pass locks on inside their process when they are not told. */
    passing: 'on' | 'off';
    /** How often a model is tried with other commands. */
    modelRuns: 'few' | 'many';
    /** The server of a project that does not run at the one all others share. */
    otherServer: OtherServer;
  }
}

export interface Project {
  readonly name: string;
  readonly tier: Tier;
  /** Below `tests/`; `*` stands for any text. */
  readonly files: readonly string[];
  readonly except?: readonly string[];
  readonly provide?: Partial<ProvidedContext>;
  /** What runs once before the tests of the project. */
  readonly setup?: readonly string[];
}

/** A project for each library and topology that the drivers' contract holds for. */
function contract(name: string, tier: Tier, library: Library, topology: Topology = 'standalone'): Project {
  return {
    name: `contract:${name}`,
    tier,
    files: ['contract/contract.suite.ts'],
    provide: { library, topology },
  };
}

/** The same tests, where no lock is passed on inside a process. */
function withoutPassing({ name, files, provide }: Project): Project {
  return { name: `${name}:passing-off`, tier: 'all', files, provide: { ...provide, passing: 'off' } };
}

/** A project for each library and topology that the behaviour suites run through: all of them, unless told. */
function behaviour(
  name: string,
  tier: Tier,
  { library, topology = 'standalone' }: { library: Library; topology?: Topology },
  suites: readonly string[] = ['*'],
): Project {
  const files = suites.map((suite) => `behaviour/${suite}.suite.ts`);
  return { name: `behaviour:${name}`, tier, files, provide: { library, topology } };
}

/** A project for each version of Redisson and each topology. */
function interop(
  redisson: ProvidedContext['redisson'],
  topology: 'standalone' | 'cluster',
  suites: readonly string[],
): Project {
  return {
    name: `interop:${redisson}${topology === 'cluster' ? '-cluster' : ''}`,
    tier: 'all',
    files: suites.map((suite) => `interop/${suite}.suite.ts`),
    provide: { redisson, topology },
  };
}

const LUA = ['lua/*.test.ts'];

/** What depends on the server, once more at another version of it. */
function at(otherServer: OtherServer): Project[] {
  return [
    { name: `lua:${otherServer}`, tier: 'all', files: LUA, provide: { otherServer } },
    {
      name: `behaviour:${otherServer}`,
      tier: 'all',
      files: ['behaviour/*.suite.ts'],
      provide: { otherServer, library: 'ioredis-6', topology: 'standalone' },
    },
    {
      name: `chaos:${otherServer}`,
      tier: 'all',
      files: ['chaos/*.test.ts'],
      except: FAULTS_OF_CLIENTS,
      provide: { otherServer },
    },
  ];
}

/** Faults that are the same whatever the server is. */
const FAULTS_OF_CLIENTS = [
  'draining',
  'identity',
  'input',
  'multi-lock-order',
  'passed-children',
  'passed-shares',
  'pending-call',
  'process',
  'red-lock-storm',
  'short-lease',
  'told-in-time',
  'unreachable',
  'zombie',
].map((file) => `chaos/${file}.test.ts`);

/** Faults at replicas, Sentinels and Clusters. */
const FAILOVERS = [
  'cluster-acks',
  'cluster-close',
  'cluster-failover',
  'demoted-primary',
  'failover',
  'fair-lock-grace',
  'label-failover',
  'passed-failover',
  'replica-acks',
  'replica-wishes',
  'sentinel-failover',
  'sentinel-switch',
  'slot-migration',
  'split-brain',
  'syncing-replicas',
].map((file) => `chaos/${file}.test.ts`);

/** Faults that take their time, or that a change seldom breaks. */
const LONG_FAULTS = [
  'draining',
  'health',
  'identity',
  'passed-shares',
  'pending-call',
  'permissions',
  'preflight',
  'process',
  'red-lock',
  'red-lock-restart',
  'red-lock-storm',
  'storm',
  'told-in-time',
  'wall-clock',
].map((file) => `chaos/${file}.test.ts`);

/*
 * Without passing on: every file in which a task waits for a lock that is passed on and that another task of its process
 * holds, and some that show that nothing else depends on it. A release that finds no such task is the same either way.
 * The members of multi and red locks are never passed on.
 */
const BEHAVIOUR_OF_PASSED = [
  'client',
  'closing',
  'crowd',
  'locks*',
  'long-holds',
  'multi-lock*',
  'odd-orders*',
  'passing-on',
  'self-wait',
  'web-locks',
];
const MODELS_OF_PASSED = ['multi-lock', 'passed-lock', 'web-locks'].map((file) => `model/${file}.test.ts`);
const FAULTS_OF_PASSED = [
  'blip',
  'doubtful-call',
  'doubtful-lease',
  'late-force',
  'late-grant',
  'lost-reply',
  'multi-lock',
  'outage',
  'passed-children',
  'passed-shares',
  'permissions',
  'preflight',
  'resent',
  'server-state',
  'storm',
  'subscriber',
  'unreachable',
  'zombie',
].map((file) => `chaos/${file}.test.ts`);

/** The demo is played whole. */
const DEMO = 'e2e/demo.test.ts';

/** What would be published, in the projects of users. */
const OF_USERS = 'e2e/projects.test.ts';

/** Commands of the command line that a change seldom breaks. */
const LONG_COMMANDS = ['bench', 'dashboard', 'doctor', 'run-lost', 'unlock', 'watch'].map(
  (file) => `e2e/${file}.test.ts`,
);

/** The server of the dashboard, at which no browser looks. */
const DASHBOARD = ['access', 'free', 'node', 'stream'].map((file) => `dashboard/${file}.test.ts`);
const LONG_DASHBOARD = ['changes', 'events', 'listeners', 'load', 'readers', 'topologies'].map(
  (file) => `dashboard/${file}.test.ts`,
);

/** Programs of the docs that run in several processes. */
const LONG_EXAMPLES = ['one-leader', 'two-terminals'].map((file) => `examples/${file}.test.ts`);

export const PROJECTS: readonly Project[] = [
  { name: 'unit', tier: 'unit', files: ['unit/**/*.test.ts'] },
  { name: 'lua', tier: 'default', files: LUA },
  { name: 'kit', tier: 'default', files: ['kit/*.test.ts'] },
  { name: 'channels', tier: 'default', files: ['channels/*.test.ts'] },
  { name: 'counts', tier: 'default', files: ['counts/*.test.ts'] },
  { name: 'harness', tier: 'all', files: ['harness/*.test.ts'] },
  { name: 'nemesis', tier: 'all', files: ['nemesis/*.test.ts'] },
  { name: 'mutants', tier: 'all', files: ['mutants/*.test.ts'] },
  { name: 'model-checking', tier: 'all', files: ['model-checking/*.test.ts'] },
  { name: 'model', tier: 'default', files: ['model/*.test.ts'], provide: { modelRuns: 'few' } },
  { name: 'model:thorough', tier: 'all', files: ['model/*.test.ts'], provide: { modelRuns: 'many' } },
  {
    name: 'docs',
    tier: 'default',
    files: ['examples/*.test.ts', 'interop/*.test.ts'],
    except: LONG_EXAMPLES,
  },
  { name: 'docs:long', tier: 'all', files: LONG_EXAMPLES },
  { name: 'e2e', tier: 'default', files: ['e2e/*.test.ts'], except: [DEMO, OF_USERS, ...LONG_COMMANDS] },
  { name: 'e2e:long', tier: 'all', files: LONG_COMMANDS },
  { name: 'e2e:demo', tier: 'all', files: [DEMO] },
  { name: 'e2e:projects', tier: 'all', files: [OF_USERS] },
  { name: 'subscribers', tier: 'default', files: ['subscribers/*.test.ts'] },
  { name: 'prometheus', tier: 'all', files: ['prometheus/*.test.ts'] },
  { name: 'dashboard', tier: 'default', files: DASHBOARD },
  { name: 'dashboard:long', tier: 'all', files: LONG_DASHBOARD },
  {
    name: 'dashboard-ui',
    tier: 'all',
    files: ['dashboard-ui/*.test.ts'],
    setup: ['tests/dashboard-ui/support/setup.ts'],
  },
  { name: 'site', tier: 'all', files: ['site/*.test.ts'], setup: ['tests/site/support/setup.ts'] },

  { name: 'chaos', tier: 'default', files: ['chaos/*.test.ts'], except: [...FAILOVERS, ...LONG_FAULTS] },
  { name: 'chaos:failover', tier: 'all', files: FAILOVERS },
  { name: 'chaos:long', tier: 'all', files: LONG_FAULTS },

  { name: 'contract', tier: 'all', files: ['contract/*.test.ts'] },
  contract('ioredis-6', 'default', 'ioredis-6'),
  contract('ioredis-6-sentinel', 'all', 'ioredis-6', 'sentinel'),
  contract('ioredis-6-cluster', 'all', 'ioredis-6', 'cluster'),
  contract('ioredis-5', 'all', 'ioredis-5'),
  contract('ioredis-5-sentinel', 'all', 'ioredis-5', 'sentinel'),
  contract('ioredis-5-cluster', 'all', 'ioredis-5', 'cluster'),
  contract('iovalkey', 'all', 'iovalkey'),
  contract('iovalkey-sentinel', 'all', 'iovalkey', 'sentinel'),
  contract('iovalkey-cluster', 'all', 'iovalkey', 'cluster'),
  contract('node-redis-6', 'default', 'node-redis-6'),
  contract('node-redis-6-sentinel', 'all', 'node-redis-6', 'sentinel'),
  contract('node-redis-6-cluster', 'all', 'node-redis-6', 'cluster'),
  contract('node-redis-5', 'all', 'node-redis-5'),
  contract('node-redis-5-sentinel', 'all', 'node-redis-5', 'sentinel'),
  contract('node-redis-5-cluster', 'all', 'node-redis-5', 'cluster'),
  contract('valkey-glide', 'all', 'valkey-glide'),
  contract('valkey-glide-cluster', 'all', 'valkey-glide', 'cluster'),

  { name: 'behaviour', tier: 'all', files: ['behaviour/*.test.ts'] },
  behaviour('ioredis-6', 'default', { library: 'ioredis-6' }),
  behaviour('ioredis-6-cluster', 'all', { library: 'ioredis-6', topology: 'cluster' }),
  behaviour('node-redis-6', 'all', { library: 'node-redis-6' }),
  behaviour('node-redis-6-cluster', 'all', { library: 'node-redis-6', topology: 'cluster' }),
  behaviour('valkey-glide', 'all', { library: 'valkey-glide' }, [
    'client',
    'closing',
    'locks*',
    'semaphore*',
  ]),

  withoutPassing(behaviour('ioredis-6', 'all', { library: 'ioredis-6' }, BEHAVIOUR_OF_PASSED)),
  withoutPassing({ name: 'behaviour', tier: 'all', files: ['behaviour/connect.test.ts'] }),
  withoutPassing({ name: 'model', tier: 'all', files: MODELS_OF_PASSED, provide: { modelRuns: 'many' } }),
  withoutPassing({ name: 'chaos', tier: 'all', files: FAULTS_OF_PASSED }),

  interop('4.7.0', 'standalone', ['locks', 'synchronizers', 'time', 'storm']),
  interop('4.7.0', 'cluster', ['locks', 'synchronizers', 'time', 'storm']),
  interop('3.52.0', 'standalone', ['locks', 'synchronizers', 'time', 'layout']),
  interop('3.52.0', 'cluster', ['older-at-cluster']),
  interop('3.17.7', 'standalone', ['locks', 'synchronizers', 'time', 'java-peer']),
  interop('3.17.7', 'cluster', ['older-at-cluster']),
  interop('3.16.8', 'standalone', ['layout']),

  ...at('redis-8.0'),
  ...at('valkey-8.1'),
  { name: 'lua:redis-6.0', tier: 'all', files: LUA, provide: { otherServer: 'redis-6.0' } },
];

/**
 * The projects of a mode of vitest. `rest` is what `default` leaves out of all; without one of these there is
 * every project.
 */
export function projectsOf(mode: string): readonly Project[] {
  if (mode === 'default') return PROJECTS.filter(({ tier }) => tier !== 'all');
  return mode === 'rest' ? PROJECTS.filter(({ tier }) => tier === 'all') : PROJECTS;
}
