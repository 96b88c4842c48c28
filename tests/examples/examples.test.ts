/** Every example runs as a program of its own and shows what it is there to show. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { NEEDS_PROCESS } from '../harness/skipped.ts';
import { ROOT } from './support/doc-blocks.ts';
import { type PrivateServer, startPrivateServer } from './support/private-server.ts';
import { runScript } from './support/run-script.ts';

/** What each example prints; a list inside stands for these lines in any order. */
const SHOWN: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  '01-with-lock.ts': ['Ann: 0 + 10 = 10', 'Ben: 10 + 20 = 30', 'Cem: 30 + 30 = 60', 'The balance is 60.'],
  '02-await-using.ts': [
    'Importing a.csv, held by this client: true.',
    'Importing b.broken, held by this client: true.',
    'Failed: b.broken cannot be read.',
    'Is the lock still held? No.',
  ],
  '03-try-lock.ts': [
    'One try: busy.',
    'Waited 100 ms: ERR_ACQUIRE_TIMEOUT; the holder is the other client.',
    'Waited for the release: held.',
  ],
  '04-bring-your-own-client.ts': [
    'The first client uses ioredis.',
    'The second client uses node-redis.',
    'The key is shop:till.',
    'The second client gets the lock meanwhile: false.',
    'The second client gets the lock afterwards: true.',
    'Both Redis clients are still open: true.',
  ],
  '05-reentry.ts': [
    'nested: entered 2 times',
    'in a scope: entered 2 times',
    'as a named owner: entered 2 times',
    'for another owner: busy',
    'non-reentrant: ERR_REENTRY',
  ],
  '06-told-in-time.ts': [
    '1. The signal tells the holder to stop (expired).',
    '2. The next owner has the lock.',
    '3. No side effect from here on: ERR_LEASE_LOST.',
    '4. A late unlock() answers false: the next owner keeps the lock.',
  ],
  '07-cron-once.ts': [
    ['one runs the job of Monday.', 'one does not run it.', 'one does not run it.'],
    ['one runs the job of Tuesday.', 'one does not run it.', 'one does not run it.'],
  ],
  '08-watching.ts': [
    'Held by the holder: true, entered 1 time.',
    'The holder is the night shift.',
    'Listed: example:watched.',
    'Freed by an operator: true.',
    'Event: example:watched is lost (notOwner).',
    'The holder must stop: 0 ms left.',
  ],
  '09-read-write.ts': [
    'Two pages read at once.',
    'The office, meanwhile: has to wait.',
    'While the pages are read, the price stays 10.',
    'The next page shows 12.',
  ],
  '10-fenced-write.ts': [
    'The slow worker finds 100 pieces, and stalls.',
    'The next worker takes 10 of 100.',
    'The slow worker writes 99, late: ERR_STALE_TOKEN.',
    'In stock: 90.',
  ],
  '11-limits.ts': ['Sent: 5. Postponed: 3.', 'Never more than two at a time: true.'],
  '12-guard.ts': [
    '1. The worker holds the lock.',
    '2. The server has restarted without its data.',
    '3. Another owner gets the lock: false.',
    '4. The worker still holds the lock.',
    '5. After the grace, another owner gets the lock.',
  ],
  '13-metrics.ts': ['Held now: 1.', 'Contended: 1.', 'Timed out: 1.', 'Lost: 1.'],
};

/** Kills a server of its own, which the embedded one cannot stand for. */
const KILLS_SERVER = '12-guard.ts';
const hasProcess = inject('serverBinary') !== null;

/** Which of the three machines wins is open. */
function anyMachine(line: string): string {
  return line.replace(/^(alpha|beta|gamma) /, 'one ');
}

function shownBy(stdout: string, expected: readonly (string | readonly string[])[]) {
  const lines = stdout.trimEnd().split('\n').map(anyMachine);
  const shown = expected.map((each) => {
    if (typeof each === 'string') return lines.shift();
    return lines.splice(0, each.length).sort();
  });
  return [...shown, ...lines];
}

function inOrder(expected: readonly (string | readonly string[])[]) {
  return expected.map((each) => (typeof each === 'string' ? each : [...each].sort()));
}

const examples = readdirSync(join(ROOT, 'examples')).filter((name) => /^\d/.test(name));

describe('examples', { timeout: 60_000 }, () => {
  let server: PrivateServer;
  beforeAll(async () => {
    server = await startPrivateServer();
  });
  afterAll(() => server.close());

  it('are all in this test', () => {
    expect(examples.sort()).toEqual(Object.keys(SHOWN));
  });

  for (const [name, expected] of Object.entries(SHOWN)) {
    const isSkipped = name === KILLS_SERVER && !hasProcess;
    it.skipIf(isSkipped)(isSkipped ? `${name} ${NEEDS_PROCESS}` : name, async () => {
      const run = await runScript(join(ROOT, 'examples', name), { env: { REDIS_URL: server.url } });
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(shownBy(run.stdout, expected)).toEqual(inOrder(expected));
    });
  }

  it('run on the embedded server without another server', async () => {
    const run = await runScript(join(ROOT, 'examples', '03-try-lock.ts'), { env: { REDIS_URL: undefined } });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(shownBy(run.stdout, [])).toEqual(SHOWN['03-try-lock.ts']);
  });
});
