/**
 * Which ACL rules are missing. Tries every command that the scripts call, in a harmless form, on keys of a name that
 * nobody uses: the server checks permissions before it does anything.
 */
import { randomUUID } from 'node:crypto';
import type { Connection } from '../../drivers/driver.ts';
import {
  clientRecordKey,
  fairQueueKey,
  fairSeenKey,
  lockChannel,
  permitTimeoutKey,
  tombstoneKey,
} from '../../keys.ts';
import { messageOf } from '../failure.ts';
import { refusalIn } from '../refusal.ts';
import type { Server } from '../server.ts';
import type { Check } from './check.ts';

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

/** Locks work without these, but less well. */
const OPTIONAL = new Set(['info', 'publish', 'subscribe', 'wait', 'scan', 'client', 'strlen', 'type']);

async function refusalOf(sending: Promise<unknown>): Promise<'command' | 'key' | 'channel' | null> {
  try {
    await sending;
    return null;
  } catch (error) {
    return refusalIn(messageOf(error));
  }
}

/** A name for the trial: what it begins with, and the rest, which nobody uses. */
export interface Trial {
  readonly prefix: string;
  readonly name: string;
}

/** The keys that a name leads to, each with the pattern that allows those of all names with this prefix. */
function derivedKeys({ prefix, name }: Trial): (readonly [pattern: string, key: string])[] {
  const id = randomUUID();
  return [
    [`~${prefix}*`, name],
    [`~redisson_*:{${prefix}*`, fairQueueKey(name)],
    [`~redisson_*:{${prefix}*`, tombstoneKey(name, id)],
    [`~holdfast_*:{${prefix}*`, fairSeenKey(name)],
    [`~{${prefix}*`, permitTimeoutKey(name)],
    ['~holdfast_client*', clientRecordKey(id)],
  ];
}

async function missingRules(connection: Connection, listener: Connection, trial: Trial): Promise<string[]> {
  const { name } = trial;
  const missing = new Set<string>();
  for (const [command, form] of [...Object.entries(PROBES), ...Object.entries(BESIDES)]) {
    const refused = await refusalOf(connection.send([command, ...form(name)]));
    if (refused === 'command') missing.add(`+${command}`);
    if (refused === 'channel') missing.add('&redisson_*');
    // Another type of value must not hide what the next command is refused for.
    await connection.send(['del', name]).catch(() => undefined);
  }
  const deaf = await refusalOf(listener.subscribe(lockChannel(name), 'plain'));
  if (deaf === 'command') missing.add('+subscribe').add('+unsubscribe');
  if (deaf === 'channel') missing.add('&redisson_*');
  // Derived keys in other slots than the connection's answer MOVED, which is no refusal.
  for (const [pattern, key] of derivedKeys(trial)) {
    const refused = await refusalOf(connection.send(['get', key]));
    if (refused === 'key') missing.add(pattern);
  }
  return [...missing];
}

function isRequired(rule: string): boolean {
  return rule.startsWith('+')
    ? !OPTIONAL.has(rule.slice(1))
    : rule.startsWith('~') && rule !== '~holdfast_client*';
}

export async function checkPermissions(server: Server, trial: Trial, user: string): Promise<Check> {
  const { driver } = server;
  const { name, prefix } = trial;
  const events = { onMessage() {}, onDown() {} };
  const node = driver.nodeOf(name);
  const connection = await driver.openConnection(node, events);
  const listener = await driver.openConnection(node, events);
  try {
    const missing = await missingRules(connection, listener, trial);
    if (missing.length === 0) {
      return {
        about: 'permissions',
        status: 'ok',
        message: `the user "${user}" may do everything that locks need`,
      };
    }
    const isServing = !missing.some(isRequired);
    return {
      about: 'permissions',
      status: isServing ? 'warning' : 'error',
      message: `the user "${user}" lacks ${missing.join(' ')} for names that start with ${prefix}`,
      remedy: `ACL SETUSER ${user} ${missing.join(' ')}, or doctor with a --name-prefix that its keys allow`,
    };
  } finally {
    connection.destroy();
    listener.destroy();
  }
}
