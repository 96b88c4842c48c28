/**
 * What a fault is, and what it may touch: the servers of a stage, the links to them, the processes that work there.
 */

import type { Random } from '../src/testing/history/random.ts';
import type { FaultProxy, TestServer, ViolationKind } from '../src/testing/index.ts';
import type { MovableClock } from '../tests/harness/clock-shim.ts';

/** Arrangements of servers that a run starts. */
export type StageName = 'one' | 'replicas' | 'sentinel' | 'cluster' | 'masters';

/** The same, and a server that the user has started. */
export type AnyStageName = StageName | 'given';

/** How a worker process reaches a stage. It travels as JSON. */
export type StageTarget =
  | { readonly kind: 'server'; readonly host: string; readonly port: number }
  | {
      readonly kind: 'sentinel';
      readonly name: string;
      readonly sentinels: readonly { host: string; port: number }[];
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly { host: string; port: number }[] }
  | { readonly kind: 'masters'; readonly servers: readonly { host: string; port: number }[] };

/** Servers in one arrangement, started for one cell. */
export interface Stage extends AsyncDisposable {
  readonly name: AnyStageName;
  readonly target: StageTarget;
  /** Every data server, dead or alive; not the Sentinels. */
  readonly servers: readonly TestServer[];
  /** The links between the workers and the servers, where there are any. */
  readonly links: readonly FaultProxy[];
  /** The servers that workers are to use now: the primaries. */
  primaries(): Promise<readonly TestServer[]>;
  /** Makes every server run, every link whole and every replica follow, whatever was done to them. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

/** A worker process as the nemesis sees it. */
export interface Victim {
  readonly proc: string;
  readonly pid: number;
  /** SIGKILL, recorded; a new process takes its place. */
  kill(): Promise<void>;
  /** Ends by itself in the given way while it holds: with `close` on SIGTERM, without any of it otherwise. */
  end(how: 'sigterm' | 'exit' | 'uncaught'): Promise<void>;
  stop(): void;
  resume(): void;
  /** Blocks its event loop. Resolves when the order is given. */
  block(ms: number): void;
  /** The clocks it lives by, when it was started with their environment. */
  readonly clock?: Pick<MovableClock, 'shift' | 'suspend'> | undefined;
}

/** How the workers' clients are set up. */
export interface Mode {
  readonly guard: boolean;
  readonly replicas: number | 'auto';
  /** Leases that the watchdog renews; explicit leases are a part of it. */
  readonly watchdogMs: number;
}

export interface Scene<S extends Stage = Stage> {
  readonly stage: S;
  readonly victims: readonly Victim[];
  readonly mode: Mode;
  readonly random: Random;
}

/** Where a promise ends: which violations a fault may cause, and why, in one sentence. */
export interface Exemption {
  readonly violations: readonly ViolationKind[];
  readonly why: string;
}

export interface Fault {
  /** Short and lower case: `holder-killed`. */
  readonly name: string;
  /** The rows of the matrix that it injects. */
  readonly rows: readonly number[];
  readonly stages: readonly AnyStageName[];
  /** Holders may lose their holds on the server by it. */
  readonly removesHolds?: boolean;
  /** What it breaks in this mode, and cannot but break. Undefined: nothing. */
  exempts?(mode: Mode): Exemption | undefined;
  /** How long it lasts, picked from this range. */
  readonly lastsMs: readonly [number, number];
  start(scene: Scene): Promise<void>;
  /** Ends what `start` began. Called once after it, also when it failed half-way. */
  stop(scene: Scene): Promise<void>;
}
