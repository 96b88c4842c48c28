/** What the suites of both kinds of semaphore share: a semaphore with permits, and processes that wait for them. */
import type { Holdfast } from '../../../src/index.ts';
import type { RawView } from '../../harness/cluster-connection.ts';
import { randomName } from '../../harness/names.ts';
import type { Context } from './context.ts';
import { untilListening } from './listeners.ts';

export const channelOf = (name: string) => `redisson_sc:{${name}}`;

/** Resolves when this many processes wait for permits. */
export function untilWaiting(raw: RawView, name: string, processes = 1): Promise<void> {
  return untilListening(raw, channelOf(name), processes);
}

export interface Prepared<T> {
  readonly client: Holdfast;
  readonly raw: RawView;
  readonly name: string;
  readonly semaphore: T;
}

/** A semaphore with so many permits, and what looks at it from outside. */
export async function preparedSemaphore<T extends { trySetPermits(permits: number): Promise<boolean> }>(
  context: Context,
  permits: number,
  get: (client: Holdfast, name: string) => T,
  options?: Parameters<Context['client']>[0],
): Promise<Prepared<T>> {
  const client = await context.client(options);
  const raw = await context.raw();
  const name = randomName();
  const semaphore = get(client, name);
  await semaphore.trySetPermits(permits);
  return { client, raw, name, semaphore };
}
