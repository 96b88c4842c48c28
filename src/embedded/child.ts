/**
 * The process of an embedded server. `start.ts` starts it with a port (0: choose one). It reports the port or the
 * failure to its parent, and ends with its parent.
 */
import { findFreePort, LOOPBACK } from './free-port.ts';
import { bootValkey } from './valkey.ts';

/** The child's only message to its parent. */
export type ChildReport = { readonly port: number } | { readonly failure: string };

const ATTEMPTS = 10;

async function boot(wantedPort: number): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = wantedPort === 0 ? await findFreePort() : wantedPort;
    try {
      await bootValkey(LOOPBACK, port);
      return port;
    } catch (error) {
      const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!taken || wantedPort !== 0 || attempt === ATTEMPTS) throw error;
    }
  }
}

// The channel closes when the parent ends in any way, SIGKILL included. Signals of a terminal reach the whole process
// group, but the parent may still need the server to release its holds: the child ignores them.
process.on('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
process.on('SIGHUP', () => {});
if (!process.connected) process.exit(0);

const report = await boot(Number(process.argv[2])).then(
  (port): ChildReport => ({ port }),
  (error: Error): ChildReport => ({ failure: error.message }),
);
process.send?.(report, () => {
  if ('failure' in report) process.exit(1);
});
