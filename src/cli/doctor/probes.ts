/**
 * Commands to try, each in a harmless form: the server checks permissions before it does anything.
 */
import { randomUUID } from 'node:crypto';
import type { ChannelKind, Driver } from '../../drivers/driver.ts';
import {
  clientRecordKey,
  fairQueueKey,
  fairSeenKey,
  lockChannel,
  permitTimeoutKey,
  tombstoneKey,
} from '../../keys.ts';
import type { Guard } from '../../requests/guard.ts';

/** The arguments with which a command runs on a key. */
type Form = (key: string) => readonly string[];

const onKey: Form = (key) => [key];

/** Every command of the scripts. A unit test fails when one is missing. */
export const PROBES: Readonly<Record<string, Form>> = {
  del: onKey,
  pexpire: (key) => [key, '1'],
  exists: onKey,
  type: onKey,
  pttl: onKey,
  persist: onKey,
  get: onKey,
  strlen: onKey,
  set: (key) => [key, '0', 'PX', '1'],
  incrby: (key) => [key, '0'],
  decr: onKey,
  decrby: (key) => [key, '0'],
  hset: (key) => [key, 'f', '0'],
  hsetnx: (key) => [key, 'f', '0'],
  hexists: (key) => [key, 'f'],
  hlen: onKey,
  hget: (key) => [key, 'f'],
  hmget: (key) => [key, 'f'],
  hgetall: onKey,
  hdel: (key) => [key, 'f'],
  hkeys: onKey,
  lindex: (key) => [key, '0'],
  lpop: onKey,
  lpos: (key) => [key, 'e'],
  lrange: (key) => [key, '0', '0'],
  lrem: (key) => [key, '0', 'e'],
  rpush: (key) => [key, 'e'],
  zadd: (key) => [key, '0', 'm'],
  zrem: (key) => [key, 'm'],
  zscore: (key) => [key, 'm'],
  zcard: onKey,
  zrange: (key) => [key, '0', '0'],
  zrangebyscore: (key) => [key, '0', '0'],
  zrevrange: (key) => [key, '0', '0'],
  zremrangebyscore: (key) => [key, '0', '0'],
  time: () => [],
  info: () => ['server'],
  publish: (key) => [lockChannel(key), '0'],
};

/** Outside of scripts. */
const BESIDES: Readonly<Record<string, Form>> = {
  eval: (key) => ['return 1', '1', key],
  evalsha: (key) => ['0'.repeat(40), '1', key],
  ping: () => [],
  wait: () => ['0', '1'],
  scan: () => ['0', 'COUNT', '1'],
  client: () => ['getname'],
};

/** A command, and the rule that allows it. */
export interface Probe {
  readonly rule: string;
  readonly command: readonly string[];
}

/** The client library finds the nodes of a Cluster by CLUSTER SLOTS. */
const CLUSTER_SLOTS: Probe = { rule: '+cluster|slots', command: ['cluster', 'slots'] };

/** @param kind the channels in use: the commands of the other kind are not needed */
export function probesFor({ topology }: Driver, kind: ChannelKind, name: string): Probe[] {
  const forms = Object.entries({ ...PROBES, ...BESIDES }).map(([command, form]): Probe => {
    const used = command === 'publish' && kind === 'sharded' ? 'spublish' : command;
    return { rule: `+${used}`, command: [used, ...form(name)] };
  });
  return topology === 'cluster' ? [...forms, CLUSTER_SLOTS] : forms;
}

/** What the names of a trial begin with. */
export interface Trial {
  readonly prefix: string;
  /** Where the guard is used. */
  readonly guard: Guard | undefined;
}

/** The keys that a name leads to, each with the pattern that allows those of all names with this prefix. */
export function derivedKeys(
  { prefix, guard }: Trial,
  name: string,
): (readonly [pattern: string, key: string])[] {
  const id = randomUUID();
  return [
    [`~${prefix}*`, name],
    [`~redisson_*:{${prefix}*`, fairQueueKey(name)],
    [`~redisson_*:{${prefix}*`, tombstoneKey(name, id)],
    [`~holdfast_*:{${prefix}*`, fairSeenKey(name)],
    [`~{${prefix}*`, permitTimeoutKey(name)],
    ['~holdfast_client*', clientRecordKey(id)],
    ...(guard === undefined ? [] : [['~holdfast_guard*', guard.recordFor(name)] as const]),
  ];
}
