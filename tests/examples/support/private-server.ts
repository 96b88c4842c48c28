/**
 * A server that one test file has to itself: documentation uses names that are not random.
 */
import { inject } from 'vitest';
import { startEmbeddedServer, startServer } from '../../../src/testing/index.ts';

export interface PrivateServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

export function startPrivateServer(): Promise<PrivateServer> {
  const binary = inject('serverBinary');
  return binary === null ? startEmbeddedServer() : startServer({ binary });
}
