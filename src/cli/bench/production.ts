/**
 * Whether a server looks like one that people depend on. A benchmark fills its time, and nobody wants that by accident.
 */
import type { Target } from '../../options/target.ts';
import type { Server } from '../server.ts';

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** More keys than a trial leaves. */
const MANY_KEYS = 1_000;

function hostsOf(target: Target): string[] {
  if ('sentinels' in target) return target.sentinels.map(({ host }) => host);
  if ('cluster' in target) return target.cluster.map(({ host }) => host);
  if ('url' in target && target.url !== undefined) return [new URL(target.url).hostname];
  return [];
}

/** The addresses that are not of this machine. */
export function strangers(target: Target): string[] {
  return hostsOf(target).filter((host) => !LOOPBACK.test(host));
}

/** Connections of others, by CLIENT LIST; those of holdfast's command line are ours. */
export function othersIn(clientList: string): number {
  const lines = clientList.split('\n').filter((line) => line.trim() !== '');
  // Replicas and the primary of a replica are no users.
  return lines.filter((line) => !/ name=holdfast:cli(?: |$)/.test(line) && !/ flags=[A-Za-z]*[SM]/.test(line))
    .length;
}

async function textOf(asking: Promise<unknown>): Promise<string> {
  // What may not be asked is not known; the other signs count.
  return String(await asking.catch(() => ''));
}

/** Why the server looks like one in use; empty if it does not. Asks every primary. */
export async function signsOfUse(target: Target, server: Server): Promise<string[]> {
  const signs = strangers(target).map((host) => `${host} is not this machine`);
  for (const node of server.driver.nodes()) {
    const keys = Number(await textOf(server.at(node, 'DBSIZE')));
    if (keys > MANY_KEYS) signs.push(`it has ${keys} keys`);
    const others = othersIn(await textOf(server.at(node, 'CLIENT', 'LIST')));
    if (others > 0) signs.push(`${others} other clients are connected`);
  }
  return signs;
}
