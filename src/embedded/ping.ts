/**
 * Checks whether a Redis-compatible server answers on a port, with one PING on a new connection.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const ONE_PING_MS = 1_000;
const PAUSE_MS = 10;

/** Resolves to the first line of the answer to PING, without its line end. */
function ping(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ host, port }, () => socket.write('*1\r\n$4\r\nPING\r\n'));
    socket.setTimeout(ONE_PING_MS, () => socket.destroy(new Error(`${host}:${port} did not answer`)));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      const end = answer.indexOf('\r\n');
      if (end < 0) return;
      resolve(answer.slice(0, end));
      socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`${host}:${port} closed the connection without an answer`)));
  });
}

/** A server that answers PONG or requires a password is up. */
const isUp = (answer: string) => answer === '+PONG' || answer.startsWith('-NOAUTH');

/** Resolves when the server answers. Rejects after `withinMs`, or as soon as `signal` aborts. */
export async function waitForPing(
  host: string,
  port: number,
  withinMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const endsAt = performance.now() + withinMs;
  let last: unknown;
  do {
    signal?.throwIfAborted();
    try {
      const answer = await ping(host, port);
      if (isUp(answer)) return;
      last = new Error(`${host}:${port} answered ${answer}`);
    } catch (error) {
      last = error;
    }
    await sleep(PAUSE_MS);
  } while (performance.now() < endsAt);
  throw new Error(`No server answered on ${host}:${port} within ${withinMs} ms`, { cause: last });
}
