/** What a worker process is told when it starts, and the orders it takes while it runs. They travel as JSON. */
import type { ClientOptions } from '../../src/index.ts';
import type { StageTarget } from '../fault.ts';
import type { VisitName } from './visits/index.ts';

export type Way = 'connect' | 'ioredis' | 'node-redis';

export interface WorkerSettings {
  readonly proc: string;
  readonly way: Way;
  /** Whether the process hands locks on among its workers. */
  readonly passesOn: boolean;
  /** How many workers act at the same time in the process. */
  readonly workers: number;
  /** The socket of the witness. */
  readonly witness: string;
}

/** Where to work, and with which client. */
export interface Post {
  readonly target: StageTarget;
  readonly options: ClientOptions;
}

/** One storm. Names begin with its prefix, so that the storms of one process do not meet. */
export interface StormOrder {
  readonly order: 'storm';
  readonly seed: string;
  readonly prefix: string;
  readonly historyFile: string;
  readonly visits: readonly VisitName[];
}

export type Order =
  /** Connect; `joined` is told when the client is open. */
  | ({ readonly order: 'join' } & Post)
  | StormOrder
  /** No new visits; `calm` is told when the last one is over. */
  | { readonly order: 'calm' }
  | { readonly order: 'block'; readonly ms: number }
  | { readonly order: 'end'; readonly how: 'exit' | 'uncaught' }
  /** Close the client; a `Farewell` is told. */
  | { readonly order: 'leave' };

/** What is left of a closed client in its process. */
export interface Farewell {
  readonly left: true;
  /** Rejections that escaped, and promises of the surface that were broken in front of a worker's eyes. */
  readonly broken: readonly string[];
  /** Kinds of resources that keep the process alive although the client is closed. */
  readonly resources: readonly string[];
}
