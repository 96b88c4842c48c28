/** Mutants that matter to the process they run in. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readHistory } from '../../src/testing/history/recorder.ts';
import { type Mutant, mutant } from './mutant.ts';

const CHILD = fileURLToPath(new URL('./children/waits.ts', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const processEndsWaiting = mutant({
  name: 'process-ends-waiting',
  row: 38,
  wrong:
    'No timer of a waiting call keeps the process alive, so a process that has nothing else to do ends in mid-call.',
  breaks: 'hung',
  async play(rig) {
    const server = await rig.server();
    const dir = await mkdtemp(join(tmpdir(), 'holdfast-mutant-'));
    rig.own({ close: () => rm(dir, { recursive: true, force: true }) });
    const file = join(dir, 'history.jsonl');
    const timers = rig.isMutant ? 'background' : 'as they are';
    const child = spawn(process.execPath, ['--import', TSX, CHILD, server.url, file, timers], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    rig.own({ close: () => child.kill('SIGKILL') });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`The process ended with ${code}`);
    rig.add(readHistory(file));
  },
});

export const PROCESS_MUTANTS: readonly Mutant[] = [processEndsWaiting];
