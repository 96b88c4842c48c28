/** The demo, as a program: what it shows, what its exit code says, what it leaves behind. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawConnection } from '../../src/testing/index.ts';
import { isRunning } from '../harness/processes.ts';
import { describeWithProcess, ownServer, sharedServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type Run, RunningCli, runCli } from './support/cli.ts';
import { numbersIn, readTable } from './support/run-demo.ts';

const DEMO_MS = 180_000;

function expectEverythingHeld({ code, stdout, stderr }: Run): void {
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^ {2}All 5 scenes held {2}\d+\.\d s$/m);
  expect(stdout).not.toContain('\x1b');
  const facts = readTable(stdout);

  expect(facts.get('One counter / under one lock')).toBe('1,000 of 1,000');
  const [without = -1, of, lost = -1] = numbersIn(facts.get('One counter / without a lock'));
  expect(of).toBe(1_000);
  expect(without).toBeGreaterThan(0);
  expect(lost).toBeGreaterThan(0);
  expect(without + lost).toBe(1_000);

  const [heldMs = 0, leaseMs = 0] = numbersIn(facts.get('Long work / held for'));
  expect(leaseMs).toBeGreaterThanOrEqual(1_000);
  expect(heldMs).toBeGreaterThan(2 * leaseMs);
  const [renewals = 0, refusals = 0] = numbersIn(facts.get('Long work / meanwhile'));
  expect(renewals).toBeGreaterThanOrEqual(2);
  expect(refusals).toBeGreaterThan(renewals);

  const [leftMs = 0] = numbersIn(facts.get('Killed holder / left at the kill'));
  const [takeoverMs = 0] = numbersIn(facts.get('Killed holder / waiter took over'));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(leaseMs);
  expect(takeoverMs).toBeGreaterThanOrEqual(leftMs - 5);
  expect(takeoverMs).toBeLessThanOrEqual(leftMs + 1_500);

  const [frozenMs = 0, nextMs = Number.POSITIVE_INFINITY] = numbersIn(
    facts.get('Frozen holder / frozen for'),
  );
  expect(nextMs).toBeLessThan(frozenMs);
  expect(facts.get('Frozen holder / on waking')).toBe('assertHeld() threw, signal aborted');
  expect(facts.get('Frozen holder / its unlock()')).toBe('false, next holder untouched');
  expect(stdout).toMatch(/assertHeld\(\) +throws ERR_LEASE_LOST/);

  expect(facts.get('Re-entry / hold count')).toBe('1 → 2 → 1 → key gone');
  expect(facts.get('Re-entry / field')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+$/);
}

async function connect(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const connection = await RawConnection.connect(hostname, Number(port || 6379));
  onTestFinished(() => connection.close());
  return connection;
}

describeWithProcess('the demo on a machine with a server program', () => {
  it(
    'starts a private server and shows that everything holds',
    async () => {
      const run = await runCli(['demo']);
      expect(run.stdout).toMatch(/Server: (redis|valkey) [\d.]+ at 127\.0\.0\.1:\d+ \(private, \S+-server\)/);
      expectEverythingHeld(run);
    },
    DEMO_MS,
  );

  it(
    'names the failed scene when its lock is deleted, and exits with 1',
    async () => {
      const server = await ownServer();
      const demo = new RunningCli(['demo', '--url', server.url]);
      const [lock = ''] = await eventually(
        async () => {
          const keys = (await server.command('KEYS', 'holdfast-demo:*:long-work')) as string[];
          expect(keys).toHaveLength(1);
          return keys;
        },
        { withinMs: 60_000, everyMs: 20 },
      );
      expect(await server.command('DEL', lock)).toBe(1);
      const { code, stdout } = await demo.ended;
      expect(code).toBe(1);
      expect(stdout).toMatch(/^ {2}1 of 5 scenes failed: Long work {2}\d/m);
      expect(readTable(stdout).get('Long work / failed')).toMatch(/rival|gone|lost/);
      expect(readTable(stdout).get('Re-entry / hold count')).toBe('1 → 2 → 1 → key gone');
      const keys = (await server.command('KEYS', '*')) as string[];
      // Who a killed client was expires by itself.
      expect(keys.filter((key) => !key.startsWith('holdfast_client:'))).toEqual([]);
    },
    DEMO_MS,
  );
});

describe('the demo', () => {
  it(
    'plays on the embedded server if there is no other',
    async () => {
      const run = await runCli(['demo'], { PATH: '' });
      expect(run.stdout).toMatch(/Server: valkey [\d.]+ at 127\.0\.0\.1:\d+ \(embedded/);
      expectEverythingHeld(run);
    },
    DEMO_MS,
  );

  it(
    'removes its frozen process and its keys when it is interrupted',
    async () => {
      const { url } = sharedServer();
      const demo = new RunningCli(['demo'], { REDIS_URL: url });
      const pid = await eventually(() => /Process (\d+) is frozen/.exec(demo.stdout)?.[1] ?? false, {
        withinMs: 60_000,
      });
      expect(demo.stdout).toContain('(from REDIS_URL)');
      expect(isRunning(Number(pid))).toBe(true);
      demo.signal('SIGINT');
      const { code, stderr } = await demo.ended;
      expect({ code, stderr }).toEqual({ code: 130, stderr: 'holdfast demo: Interrupted by SIGINT\n' });
      expect(isRunning(Number(pid))).toBe(false);
      const connection = await connect(url);
      expect(await connection.command('KEYS', '*holdfast-demo:*')).toEqual([]);
    },
    DEMO_MS,
  );

  it(
    'gives its verdicts as JSON, and tells the story on stderr',
    async () => {
      const { code, stdout, stderr } = await runCli(['demo', '--json'], { REDIS_URL: sharedServer().url });
      expect(code, stderr).toBe(0);
      const report = JSON.parse(stdout) as { scenes: { title: string; facts: object[] }[] };
      expect(report).toMatchObject({
        held: true,
        server: expect.stringMatching(/^(redis|valkey) [\d.]+ at /),
        tookMs: expect.any(Number),
      });
      expect(report.scenes.map(({ title }) => title)).toEqual([
        ...['One counter', 'Long work', 'Killed holder', 'Frozen holder', 'Re-entry'],
      ]);
      expect(report.scenes[0]).toMatchObject({
        held: true,
        facts: expect.arrayContaining([{ label: 'under one lock', value: '1,000 of 1,000' }]),
      });
      expect(stderr).toContain('All 5 scenes held');
    },
    DEMO_MS,
  );

  it('prints in one line why it cannot begin, without the password, and exits with 1', async () => {
    const run = await runCli(['demo', '--url', 'redis://someone:secret@127.0.0.1:1']);
    expect(run).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'holdfast demo: Cannot connect to 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. ' +
        'Check that the server runs, and that the client has its address\n',
    });
  });
});
