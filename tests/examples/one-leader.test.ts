/** The program of docs/recipes/one-leader.md, in several processes: each fate of a leader that the page names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RawConnection } from '../../src/testing/index.ts';
import { describeWithProcess, ownServer } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { type BlockProcess, blockProgram } from './support/block-program.ts';
import { type PrivateServer, startPrivateServer } from './support/private-server.ts';

const LEASE_MS = 5_000;
/** The lock is renewed every third of its lease, so that this much of it is always left. */
const LEFT_MS = (2 / 3) * LEASE_MS;
/** For a busy machine. */
const SPARE_MS = 2_000;

const CHANNEL = 'redisson_lock__channel:{leader:mailbox}';

const leads = ({ pid }: BlockProcess) => `process ${pid} leads`;

describe('the program of one leader: a process', { timeout: 60_000 }, () => {
  let server: PrivateServer;
  beforeAll(async () => {
    server = await startPrivateServer();
  });
  afterAll(() => server.close());

  /** Resolves when one process waits for the lead. */
  async function untilWaiting(): Promise<void> {
    await using raw = await RawConnection.connect(server.host, server.port);
    const listening = async () => raw.command('PUBSUB', 'NUMSUB', CHANNEL);
    await eventually(async () => expect(await listening()).toEqual([CHANNEL, 1]), { withinMs: 20_000 });
  }

  /** Two processes, of which the first leads; the second is a candidate. */
  async function leaderAndCandidate() {
    const start = blockProgram('tests/examples/one-leader.test.ts', server);
    const leader = start();
    await leader.until(leads(leader));
    const candidate = start();
    await untilWaiting();
    expect(candidate.printed).toEqual([]);
    return { leader, candidate };
  }

  it('that leads and gets SIGTERM resigns, and the candidate leads at once', async () => {
    const { leader, candidate } = await leaderAndCandidate();
    const toldAt = performance.now();
    leader.kill('SIGTERM');
    await candidate.until(leads(candidate));
    expect(performance.now() - toldAt).toBeLessThan(LEFT_MS);
    expect(await leader.ended).toEqual({ code: 0, signal: null });
    expect(leader.printed).toEqual([leads(leader), `process ${leader.pid} has resigned`]);
    candidate.kill('SIGTERM');
    expect(await candidate.ended).toEqual({ code: 0, signal: null });
  });

  it('that is a candidate and gets SIGTERM ends without a word', async () => {
    const { leader, candidate } = await leaderAndCandidate();
    candidate.kill('SIGTERM');
    expect(await candidate.ended).toEqual({ code: 0, signal: null });
    expect(candidate.printed).toEqual([]);
    leader.kill('SIGTERM');
    expect(await leader.ended).toEqual({ code: 0, signal: null });
  });

  it('that leads and is killed is followed by the candidate within the lease', async () => {
    const { leader, candidate } = await leaderAndCandidate();
    leader.kill('SIGKILL');
    await leader.ended;
    const endedAt = performance.now();
    await candidate.until(leads(candidate));
    expect(performance.now() - endedAt).toBeLessThan(LEASE_MS + SPARE_MS);
    candidate.kill('SIGTERM');
    expect(await candidate.ended).toEqual({ code: 0, signal: null });
  });

  it('that leads and is paused past its lease learns that it lost the lead, and leads again after the other', async () => {
    const { leader, candidate } = await leaderAndCandidate();
    leader.kill('SIGSTOP');
    await candidate.until(leads(candidate));
    leader.kill('SIGCONT');
    await leader.until(`process ${leader.pid} does not lead: ERR_LEASE_LOST`);
    await untilWaiting();
    candidate.kill('SIGTERM');
    await leader.until(leads(leader), { times: 2 });
    expect(candidate.printed).toEqual([leads(candidate), `process ${candidate.pid} has resigned`]);
    leader.kill('SIGTERM');
    expect(await leader.ended).toEqual({ code: 0, signal: null });
  });
});

describeWithProcess('the program of one leader, when the server freezes past the lease', () => {
  it('learns that it lost the lead, and leads again when the server is back', {
    timeout: 60_000,
  }, async () => {
    const server = await ownServer();
    const leader = blockProgram('tests/examples/one-leader.test.ts', server)();
    await leader.until(leads(leader));
    await server.pause();
    await leader.until(`process ${leader.pid} does not lead: ERR_LEASE_LOST`);
    await server.resume();
    await leader.until(leads(leader), { times: 2 });
    leader.kill('SIGTERM');
    expect(await leader.ended).toEqual({ code: 0, signal: null });
  });
});
