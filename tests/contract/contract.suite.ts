/** What every driver must do, for the client library and the servers of the project it is run in. */
import { inject } from 'vitest';
import type { Library } from '../projects.ts';

interface Contracts {
  standalone(): void;
  cluster(): void;
  /** Valkey GLIDE knows no Sentinels. */
  sentinel?(): void;
}

/** Loaded when asked for: every library takes its time. */
const LIBRARIES: Readonly<Record<Library, () => Promise<Contracts>>> = {
  'ioredis-6': () => import('./libraries/ioredis-6.ts'),
  'ioredis-5': () => import('./libraries/ioredis-5.ts'),
  iovalkey: () => import('./libraries/iovalkey.ts'),
  'node-redis-6': () => import('./libraries/node-redis-6.ts'),
  'node-redis-5': () => import('./libraries/node-redis-5.ts'),
  'valkey-glide': () => import('./libraries/valkey-glide.ts'),
};

const contracts = await LIBRARIES[inject('library')]();
contracts[inject('topology')]?.();
