/** The example that serves its metrics, as a process that runs until it is closed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../../..');
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export interface RunningExample {
  /** Host and port that serve `/metrics`. */
  readonly target: string;
  /** Tells it to end, and resolves to its exit code. */
  close(): Promise<number | null>;
}

export async function startExample(redisUrl: string): Promise<RunningExample> {
  const child = spawn(process.execPath, ['--import', TSX, join(ROOT, 'examples/13-metrics.ts')], {
    cwd: ROOT,
    env: { ...process.env, REDIS_URL: redisUrl, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout });
  const [first] = (await Promise.race([once(lines, 'line'), ended])) as [unknown];
  const target = /^Metrics at http:\/\/(\S+)\/metrics$/.exec(String(first))?.[1];
  if (target === undefined) {
    child.kill('SIGKILL');
    throw new Error(`The example said: ${first}`);
  }
  return {
    target,
    close: async () => {
      child.kill('SIGTERM');
      return (await ended)[0];
    },
  };
}
