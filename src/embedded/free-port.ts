/**
 * Finds a TCP port on the loopback interface that nobody listens on.
 *
 * Whoever uses the port may still lose it to another process in between; handling that is left to the
 * callers, who try another one.
 */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The only interface that servers of the test kit listen on. */
export const LOOPBACK = '127.0.0.1';

// Below every common ephemeral range, where an outgoing connection could take the port while a server
// restarts, and low enough that the cluster bus (port + 10000) still fits.
const FIRST_PORT = 15_000;
const LAST_PORT = 30_000;
const ATTEMPTS = 50;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: LOOPBACK, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** A port on 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${FIRST_PORT} and ${LAST_PORT} on ${LOOPBACK}`);
}
