/** A server that gives itself out as something else: a proxy that changes words in what it says, not their length. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { LOOPBACK } from '../../../src/embedded/free-port.ts';

export interface Disguise {
  readonly host: string;
  readonly port: number;
  /** What is said from here on. */
  words: readonly (readonly [said: RegExp, instead: string])[];
}

/** Answers fit into one chunk on loopback, and pass whole. */
export async function disguised(
  target: { host: string; port: number },
  words: Disguise['words'],
): Promise<Disguise> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    for (const socket of [client, upstream]) {
      sockets.add(socket.on('error', () => {}));
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      let text = chunk.toString('latin1');
      for (const [said, instead] of disguise.words) text = text.replace(said, instead);
      if (text.length !== chunk.length) throw new Error('A disguise must not change lengths');
      client.write(Buffer.from(text, 'latin1'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as { port: number };
  const disguise: Disguise = { host: LOOPBACK, port, words };
  return disguise;
}
