/** Redisson's side of a permit-expirable semaphore, played with single commands, and a look at what is stored. */
import { randomBytes } from 'node:crypto';
import type { Holdfast, PermitExpirableSemaphore } from '../../../src/index.ts';
import type { RawView } from '../../harness/cluster-connection.ts';
import type { Context } from './context.ts';
import { channelOf, type Prepared, preparedSemaphore } from './semaphores.ts';

export const PERMANENT = 922_337_203_685_477;

export const setOf = (name: string) => `{${name}}:timeout`;

/** What stands in Redis: free permits, null without a semaphore, and taken ones. */
export async function stored(raw: RawView, name: string): Promise<[free: number | null, taken: number]> {
  const free = await raw.command('GET', name);
  return [free === null ? null : Number(free), Number(await raw.command('ZCARD', setOf(name)))];
}

/** Until when the server has the permit as taken, by its clock; null when it has not. */
export async function endOf(raw: RawView, name: string, id: string): Promise<number | null> {
  const score = await raw.command('ZSCORE', setOf(name), Buffer.from(id, 'hex'));
  return score === null ? null : Number(score);
}

export async function serverNow(raw: RawView): Promise<number> {
  const [seconds, micros] = (await raw.command('TIME')) as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

/** How long the server has it as taken from now. */
export async function leftMs(raw: RawView, name: string, id: string): Promise<number> {
  return Number(await endOf(raw, name, id)) - (await serverNow(raw));
}

/** Redisson takes a permit, whether there is one or not: the semaphore may then owe. */
export async function javaTakes(raw: RawView, name: string, leaseMs: number): Promise<string> {
  const id = randomBytes(16);
  const score = Number.isFinite(leaseMs) ? (await serverNow(raw)) + leaseMs : PERMANENT;
  await raw.command('DECRBY', name, 1);
  await raw.command('ZADD', setOf(name), score, id);
  return id.toString('hex');
}

/** Redisson gives a permit back and tells the new total. */
export async function javaReleases(raw: RawView, name: string, id: string): Promise<boolean> {
  if ((await raw.command('ZREM', setOf(name), Buffer.from(id, 'hex'))) !== 1) return false;
  const total = await raw.command('INCRBY', name, 1);
  await raw.command('PUBLISH', channelOf(name), String(total));
  return true;
}

/** A semaphore with so many permits, and what looks at it from outside. */
export function prepared(
  context: Context,
  permits: number,
  options?: Parameters<Context['client']>[0],
): Promise<Prepared<PermitExpirableSemaphore>> {
  const get = (client: Holdfast, name: string) => client.getPermitExpirableSemaphore(name);
  return preparedSemaphore(context, permits, get, options);
}
