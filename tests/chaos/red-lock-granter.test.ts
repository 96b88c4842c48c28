/**
 * The red lock judges a vote by the server process that granted it: one that restarted without its data abstains, also
 * when it restarts in the middle of a vote. The servers' clocks are moved, so that they need not grow old to vote.
 */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QuorumError } from '../../src/index.ts';
import { lockAcquire, lockRelease } from '../../src/scripts/generated.ts';
import type { TestServer } from '../../src/testing/index.ts';
import { untilTheyVote } from '../behaviour/support/red-lock-servers.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { timed } from './support/arena.ts';
import { CAN_SHIFT, NEEDS_GCC, shiftableServer } from './support/clock-shift.ts';
import { loadScripts } from './support/kinds.ts';
import { holdersOn, party } from './support/red-arena.ts';
import { runs } from './support/requests.ts';

vi.setConfig({ testTimeout: 30_000 });

/** With this lease a server gets a second to answer: enough to restart in. */
const LEASE_MS = 20_000;
const OPTIONS = { watchdogMs: LEASE_MS };

type Three = [TestServer, TestServer, TestServer];

async function three(): Promise<Three> {
  const shiftable = await Promise.all([shiftableServer(), shiftableServer(), shiftableServer()]);
  const servers = shiftable.map(({ server }) => server) as Three;
  await Promise.all(servers.map(loadScripts));
  await Promise.all(shiftable.map(({ shift }) => shift(2 * LEASE_MS)));
  await untilTheyVote(servers, LEASE_MS);
  return servers;
}

/** Two parties that have met all servers. The first then loses sight of the third server, and holds the lock on the others. */
async function oneHolds(servers: Three, name: string) {
  const ours = await (await party(servers, OPTIONS)).meet();
  const theirs = await (await party(servers, OPTIONS)).meet();
  await ours.proxies[2]?.refuse();
  // What is still to be undone on the third server is done before the clients close.
  onTestFinished(() => ours.proxies[2]?.heal());
  const owner = ours.clients[0]?.owner();
  const hold = await ours.lock(name).lock({ owner });
  expect(await holdersOn(servers, name)).toEqual([expect.any(String), expect.any(String), null]);
  return { ours, theirs, owner, hold };
}

describeWithProcess('a server of three restarts without its data', () => {
  describe.skipIf(!CAN_SHIFT)(`in the middle of a vote${NEEDS_GCC}`, () => {
    it('before the acquisition of a rival reaches it: the rival does not get the lock beside the holder', async () => {
      const servers = await three();
      const [first] = servers;
      const name = randomName();
      const { theirs, hold } = await oneHolds(servers, name);

      const request = theirs.proxies[0]?.holdRequest(runs(lockAcquire));
      const attempt = theirs.lock(name).tryLock();
      await request?.held;
      // Whatever was sent before the acquisition is answered by now, by the process that is about to die.
      await first.command('PING');
      await first.restart();
      request?.release();

      expect(await attempt).toBeNull();
      hold.assertHeld();
    });

    it('before an owner retakes a lock that it is releasing: the owner does not get the lock beside the next holder', async () => {
      const servers = await three();
      const [first, second] = servers;
      const name = randomName();
      const { ours, theirs, owner, hold } = await oneHolds(servers, name);
      const [, fieldOnSecond] = await holdersOn(servers, name);

      const released = ours.proxies[0]?.swallowReply(runs(lockRelease), { after: 'silence' });
      const unlocking = hold.unlock();
      const again = timed(ours.lock(name).tryLock({ owner }));
      await released;
      await eventually(async () => {
        const [field] = (await second.command('HKEYS', name)) as string[];
        return field !== undefined && field !== fieldOnSecond;
      });
      const theirHold = await theirs.lock(name).tryLock();
      expect(theirHold?.owner.split(' ')).toHaveLength(2);
      await first.restart();
      await ours.proxies[0]?.heal();

      expect((await again).error).toBeInstanceOf(QuorumError);
      theirHold?.assertHeld();
      await unlocking;
    });
  });
});
