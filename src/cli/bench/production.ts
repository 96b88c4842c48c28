/**
 * Whether a server looks like one that people depend on. A benchmark fills its time, and nobody wants that by accident.
 * What the server does not tell counts as a sign too.
 */
import type { Topology } from '../../drivers/driver.ts';
import type { Target } from '../../options/target.ts';
import { messageOf } from '../failure.ts';
import { refusalIn } from '../refusal.ts';
import type { Server } from '../server.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** More keys than a trial leaves. */
const MANY_KEYS = 1_000;

/** What a primary told; null for what it may not be asked. */
export interface Answers {
  /** `host:port` in a Cluster, otherwise empty. */
  readonly node: string;
  readonly keys: number | null;
  /** By CLIENT LIST. */
  readonly clients: string | null;
}

function hostsOf(target: Target): string[] {
  if ('sentinels' in target) return target.sentinels.map(({ host }) => host);
  if ('cluster' in target) return target.cluster.map(({ host }) => host);
  if ('url' in target && target.url !== undefined) return [new URL(target.url).hostname];
  return [];
}

function hostIn(address: string): string {
  return address.replace(/:\d+$/, '');
}

function isOurs(client: string): boolean {
  return / name=holdfast:cli(?: |$)/.test(client);
}

/**
 * The hosts of the primaries. Sentinels do not pass theirs on: the primary sees this machine under another address than
 * the loopback one if it is another machine.
 */
function hostsFound(topology: Topology, { node, clients }: Answers): string[] {
  if (topology === 'cluster') return node === '' ? [] : [hostIn(node)];
  if (topology === 'standalone') return [];
  const ours = (clients ?? '').split('\n').filter(isOurs);
  return ours.flatMap((line) => / addr=(\S+)/.exec(line)?.[1] ?? []).map(hostIn);
}

/** The addresses that are not of this machine. */
function strangers(target: Target, topology: Topology, answers: readonly Answers[]): string[] {
  const hosts = new Set([...hostsOf(target), ...answers.flatMap((one) => hostsFound(topology, one))]);
  return [...hosts].filter((host) => !LOOPBACK.test(host));
}

function counted(number: number, one: string, several: string): string[] {
  return number === 0 ? [] : [number === 1 ? `1 ${one} is connected` : `${number} ${several} are connected`];
}

function signsOfClients(clients: string): string[] {
  const lines = clients.split('\n').filter((line) => line.trim() !== '');
  const isReplica = (line: string) => / flags=[A-Za-z]*S/.test(line);
  // The primary of a replica is no user.
  const isUser = (line: string) => !isOurs(line) && !/ flags=[A-Za-z]*[SM]/.test(line);
  return [
    ...counted(lines.filter(isReplica).length, 'replica', 'replicas'),
    ...counted(lines.filter(isUser).length, 'other client', 'other clients'),
  ];
}

function signsOfPrimary({ node, keys, clients }: Answers): string[] {
  const it = node === '' ? 'it' : node;
  return [
    ...(keys === null ? [`${it} may not be asked DBSIZE`] : []),
    ...(keys !== null && keys > MANY_KEYS ? [`${it} has ${keys} keys`] : []),
    ...(clients === null ? [`${it} may not be asked CLIENT LIST`] : []),
    ...(clients === null ? [] : signsOfClients(clients)),
  ];
}

/** Why the servers look like some in use; empty if they do not. */
export function signsIn(target: Target, topology: Topology, answers: readonly Answers[]): string[] {
  const away = strangers(target, topology, answers).map((host) => `${host} is not this machine`);
  return [...new Set([...away, ...answers.flatMap(signsOfPrimary)])];
}

/** Null for what the server refuses. Rejects if it does not answer. */
async function unlessRefused<Reply>(asking: Promise<Reply>): Promise<Reply | null> {
  try {
    return await asking;
  } catch (error) {
    if (refusalIn(messageOf(error)) === null) throw error;
    return null;
  }
}

/** Asks every primary. */
export async function signsOfUse(target: Target, server: Server): Promise<string[]> {
  const answers = server.driver.nodes().map(async (node): Promise<Answers> => {
    const keys = await unlessRefused(server.at(node, 'DBSIZE'));
    const clients = await unlessRefused(server.at(node, 'CLIENT', 'LIST'));
    return {
      node,
      keys: keys === null ? null : Number(keys),
      clients: clients === null ? null : String(clients),
    };
  });
  return signsIn(target, server.driver.topology, await Promise.all(answers));
}
