/**
 * What every contestant offers to the workloads: a lock that runs a section. Who plays against whom is in `index.ts`.
 */

/** The code inside a lock. It returns nothing when it has nothing to wait for. */
export type Section = () => Promise<unknown> | undefined;

/** Acquires a lock, runs the section, and releases the lock. */
export type Use = (section: Section) => Promise<unknown>;

export interface Connection {
  /** A handle on the lock of this key. Every task asks for its own handle. */
  lock(key: string): Use;
}

/**
 * - `holdfast`: the library itself
 * - `yardstick`: what a lock costs at least; nothing that anyone would use as it is
 * - `library`: a package from npm
 * - `redisson`: the original, on the JVM
 */
export type Kind = 'holdfast' | 'yardstick' | 'library' | 'redisson';

export interface Contestant {
  readonly id: string;
  readonly title: string;
  readonly kind: Kind;
  /** `newer-node` is the Node.js of the npm package `node`, for packages that refuse the one that runs the bench. */
  readonly runtime: 'node' | 'newer-node' | 'jvm';
  /** The npm package that it needs beside ioredis and node-redis. */
  readonly needs?: string;
  /** How it is used and with which settings, for the report. */
  readonly note: string;
  /** Absent for those that do not run in Node.js. */
  readonly connect?: (url: string) => Promise<Connection>;
}
