/** Names no other test uses, so that files and runs can share a server. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

export function randomName(prefix = 'test'): string {
  return `${prefix}:${randomUUID()}`;
}

/** The label of a client that was given none. */
export const LABEL = `${hostname()}:${process.pid}`;
