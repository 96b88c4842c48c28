/**
 * Which ACL rules are missing, at every primary. Tries every command that the scripts call on keys of names that nobody
 * uses.
 */
import { randomUUID } from 'node:crypto';
import type { ChannelKind, Connection, Driver } from '../../drivers/driver.ts';
import { lockChannel } from '../../keys.ts';
import { messageOf } from '../failure.ts';
import { refusalIn } from '../refusal.ts';
import type { Check } from './check.ts';
import { derivedKeys, probesFor, type Trial } from './probes.ts';

/** Locks work without these, but less well. */
const OPTIONAL = [
  ...['+info', '+publish', '+spublish', '+subscribe', '+unsubscribe', '+ssubscribe', '+sunsubscribe'],
  // A Cluster client that finds its nodes elsewhere works until they change.
  ...['+wait', '+scan', '+client', '+strlen', '+type', '+cluster|slots', '&redisson_*', '~holdfast_client*'],
];

/** Enough names to find one for every primary, unless it has very few slots. */
const TRIED_NAMES = 5_000;

type Refused = ReturnType<typeof refusalIn>;

async function refusalOf(sending: Promise<unknown>): Promise<Refused> {
  try {
    await sending;
    return null;
  } catch (error) {
    return refusalIn(messageOf(error));
  }
}

/** A name of no lock for each primary. A prefix with a hash tag leads to one primary only. */
function namesByNode(driver: Driver, prefix: string): Map<string, string> {
  const names = new Map<string, string>();
  const { length } = driver.nodes();
  for (let tried = 0; tried < TRIED_NAMES && names.size < length; tried += 1) {
    const name = prefix + randomUUID();
    names.set(driver.nodeOf(name), name);
  }
  return names;
}

/** In a Cluster, clients use sharded channels unless the server is too old. */
async function channelKindAt(connection: Connection, driver: Driver, name: string): Promise<ChannelKind> {
  if (driver.topology !== 'cluster') return 'plain';
  try {
    await connection.send(['spublish', lockChannel(name), '0']);
  } catch (error) {
    if (/^ERR unknown command/i.test(messageOf(error))) return 'plain';
  }
  return 'sharded';
}

async function missingRules(
  driver: Driver,
  connection: Connection,
  listener: Connection,
  trial: Trial,
  name: string,
): Promise<string[]> {
  const missing = new Set<string>();
  const kind = await channelKindAt(connection, driver, name);
  for (const { rule, command } of probesFor(driver, kind, name)) {
    const refused = await refusalOf(connection.send(command));
    if (refused === 'command') missing.add(rule);
    if (refused === 'channel') missing.add('&redisson_*');
    // Another type of value must not hide what the next command is refused for. DEL has a probe that reports its refusal.
    await connection.send(['del', name]).catch(() => undefined);
  }
  const deaf = await refusalOf(listener.subscribe(lockChannel(name), kind));
  const [subscribe, unsubscribe] =
    kind === 'sharded' ? ['+ssubscribe', '+sunsubscribe'] : ['+subscribe', '+unsubscribe'];
  if (deaf === 'command') missing.add(subscribe).add(unsubscribe);
  if (deaf === 'channel') missing.add('&redisson_*');
  // Derived keys in other slots than the connection's answer MOVED, which is no refusal.
  for (const [pattern, key] of derivedKeys(trial, name)) {
    const refused = await refusalOf(connection.send(['get', key]));
    if (refused === 'key') missing.add(pattern);
  }
  return [...missing].sort();
}

/** The rules in one text, so that primaries can be grouped by them. */
async function missingAt(driver: Driver, node: string, trial: Trial, name: string): Promise<string> {
  const events = { onMessage() {}, onDown() {} };
  const connection = await driver.openConnection(node, events);
  try {
    const listener = await driver.openConnection(node, events);
    try {
      const rules = await missingRules(driver, connection, listener, trial, name);
      return rules.join(' ');
    } finally {
      listener.destroy();
    }
  } finally {
    connection.destroy();
  }
}

function missingCheck(user: string, prefix: string, rules: string, found: Places): Check {
  const isServing = rules.split(' ').every((rule) => OPTIONAL.includes(rule));
  return {
    about: 'permissions',
    status: isServing ? 'warning' : 'error',
    message: `the user "${user}" lacks ${rules} for names that start with ${prefix}${found.where}`,
    remedy: `ACL SETUSER ${user} ${rules}${found.whereToAllow}, or doctor with a --name-prefix that its keys allow`,
  };
}

/** Where rules are missing, and where to add them; empty where there is only one primary. */
interface Places {
  readonly where: string;
  readonly whereToAllow: string;
}

function placesOf(nodes: readonly string[], all: number): Places {
  if (all === 1) return { where: '', whereToAllow: '' };
  if (nodes.length === all) return { where: ' at every primary', whereToAllow: ' at every node' };
  const where = ` at ${nodes.join(', ')}`;
  return { where, whereToAllow: `${where} and ${nodes.length === 1 ? 'its' : 'their'} replicas` };
}

/** One check for all primaries at which the user lacks nothing, or one for each set of rules that is missing. */
export async function checkPermissions(driver: Driver, trial: Trial, user: string): Promise<Check[]> {
  const names = [...namesByNode(driver, trial.prefix)];
  const nodesByRules = new Map<string, string[]>();
  await Promise.all(
    names.map(async ([node, name]) => {
      const rules = await missingAt(driver, node, trial, name);
      nodesByRules.set(rules, [...(nodesByRules.get(rules) ?? []), node]);
    }),
  );
  nodesByRules.delete('');
  if (nodesByRules.size === 0) {
    const message = `the user "${user}" may do everything that locks need`;
    return [{ about: 'permissions', status: 'ok', message }];
  }
  return [...nodesByRules].map(([rules, nodes]) =>
    missingCheck(user, trial.prefix, rules, placesOf(nodes, names.length)),
  );
}
