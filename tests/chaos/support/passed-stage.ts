/** A server, and a client that passes its locks on whenever that is allowed. */
import { expect } from 'vitest';
import type { ClientOptions, Holdfast } from '../../../src/index.ts';
import type { TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';
import { arena, join, leftovers } from './arena.ts';
import { UNHURRIED } from './passed-on.ts';

interface Stage {
  readonly server: TestServer;
  readonly client: Holdfast;
  readonly name: string;
}

export async function setUp(options: ClientOptions = {}): Promise<Stage> {
  const { server } = await arena();
  const client = await join('Holdfast.connect', server, { passOn: UNHURRIED, ...options });
  return { server, client, name: randomName() };
}

/** Nothing is left on the server but marks of ended owners, which expire. */
export async function expectNothingLeft(server: TestServer, name: string): Promise<void> {
  await eventually(async () => expect(await server.command('EXISTS', name)).toBe(0));
  for (const [key, ttl] of await leftovers(server)) expect(ttl, key).toBeGreaterThan(0);
}
