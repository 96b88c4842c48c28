/**
 * Which tests run where: every row is a project of vitest, `npx vitest run --project <name> <file>`. A suite
 * (`*.suite.ts`) runs in several, and learns from `inject` through which library and at which servers.
 */
import type { ProvidedContext } from 'vitest';

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
  }
}

export interface Project {
  readonly name: string;
  readonly tier: Tier;
  /** Below `tests/`; `*` stands for any text. */
  readonly files: readonly string[];
  readonly provide?: Partial<ProvidedContext>;
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

export const PROJECTS: readonly Project[] = [
  { name: 'unit', tier: 'unit', files: ['unit/**/*.test.ts'] },
  { name: 'kit', tier: 'default', files: ['kit/*.test.ts', 'harness/*.test.ts'] },
  { name: 'lua', tier: 'default', files: ['lua/*.test.ts'] },
  { name: 'model', tier: 'default', files: ['model/*.test.ts'] },
  { name: 'docs', tier: 'default', files: ['examples/*.test.ts', 'interop/*.test.ts'] },
  { name: 'e2e', tier: 'default', files: ['e2e/*.test.ts'] },
  { name: 'chaos', tier: 'default', files: ['chaos/*.test.ts'] },

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
  behaviour('valkey-glide', 'all', { library: 'valkey-glide' }, ['client', 'locks*', 'semaphore']),

  interop('4.7.0', 'standalone', ['locks', 'synchronizers', 'time', 'storm']),
  interop('4.7.0', 'cluster', ['locks', 'synchronizers', 'time', 'storm']),
  interop('3.52.0', 'standalone', ['locks', 'synchronizers', 'time', 'layout']),
  interop('3.52.0', 'cluster', ['older-at-cluster']),
  interop('3.17.7', 'standalone', ['locks', 'synchronizers', 'time', 'java-peer']),
  interop('3.17.7', 'cluster', ['older-at-cluster']),
  interop('3.16.8', 'standalone', ['layout']),
];
