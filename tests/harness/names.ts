/** Names no other test uses, so that files and runs can share a server. */
import { randomUUID } from 'node:crypto';

export function randomName(prefix = 'test'): string {
  return `${prefix}:${randomUUID()}`;
}
