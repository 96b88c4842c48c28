/** Processes that hold locks and wait for them. */
import { fileURLToPath } from 'node:url';
import type { ClientOptions } from '../../../src/index.ts';
import { spawnChild } from '../../harness/child.ts';
import type { TestChild } from '../../harness/child-process.ts';

const HOLDS = fileURLToPath(new URL('../children/holds.ts', import.meta.url));

export type Kind = 'lock' | 'fair' | 'read';

export interface HolderOptions extends ClientOptions {
  readonly kind?: Kind;
  /** A fixed lease, which nobody renews. */
  readonly leaseMs?: number;
}

/** Starts a process that asks for a lock; it says `asking`, and `held` with its owner. */
export function startHolder(redisUrl: string, name: string, options: HolderOptions = {}): TestChild {
  return spawnChild(HOLDS, { args: [redisUrl, name, JSON.stringify(options)] });
}

/** The same, once it holds the lock. */
export async function holdInChild(
  redisUrl: string,
  name: string,
  options: HolderOptions = {},
): Promise<{ child: TestChild; owner: string }> {
  const child = startHolder(redisUrl, name, options);
  const { owner } = await child.next(({ state }) => state === 'held');
  return { child, owner: String(owner) };
}
