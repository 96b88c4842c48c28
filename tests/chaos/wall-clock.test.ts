/** The server's wall clock, by which it expires keys, jumps. */
import { describe, expect, it } from 'vitest';
import { lockChannel } from '../../src/keys.ts';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { eventually } from '../harness/wait.ts';
import { aborted, join, listenTo, SLACK_MS, subscribersOf, timed } from './support/arena.ts';
import { CAN_SHIFT, NEEDS_GCC, shiftableServer } from './support/clock-shift.ts';
import { LAYOUTS, LOCK } from './support/kinds.ts';

async function serverTime(server: { command(name: 'TIME'): Promise<unknown> }): Promise<number> {
  return Number(((await server.command('TIME')) as string[])[0]) * 1_000;
}

describeWithProcess('the wall clock of the server', () => {
  describe.skipIf(!CAN_SHIFT)(`moved by a shim${NEEDS_GCC}`, () => {
    it.each(LAYOUTS)(
      '+40 s: the lease of $title ends on the server, and the signal aborts at the renewal',
      async (kind) => {
        const { server, shift } = await shiftableServer();
        const name = randomName();
        const watchdogMs = 6_000;
        const client = await join('Holdfast.connect', server, { watchdogMs });
        const hold = await kind.get(client, name).lock();
        const told = aborted(hold.signal);
        await shift(40_000);
        expect((await serverTime(server)) - Date.now()).toBeGreaterThan(38_000);
        const { value, tookMs } = await told;
        expect(value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'notOwner' });
        expect(tookMs).toBeLessThan(watchdogMs / 2);
        const theirs = await kind.get(await join('Holdfast.connect', server), name).lock();
        expect(await hold.unlock()).toBe(false);
        expect(await kind.get(client, name).isLocked()).toBe(true);
        expect(await kind.holderOn(server, name)).toBe(theirs.owner);
      },
    );

    it('−100 s: the lease lasts longer on the server, and a waiter polls', async () => {
      const { server, shift } = await shiftableServer();
      const name = randomName();
      const client = await join('Holdfast.connect', server, { watchdogMs: 3_000 });
      const { lost } = listenTo(client);
      const hold = await client.getLock(name).lock();
      await shift(-100_000);
      expect(await server.command('PTTL', name)).toBeGreaterThan(100_000);
      const waiting = timed((await join('Holdfast.connect', server)).getLock(name).lock());
      await eventually(async () => (await subscribersOf(server, lockChannel(name))) === 1);
      // The holder vanishes without a word: by its lease the waiter would sleep for 100 s.
      hold.assertHeld();
      await server.command('DEL', name);
      const { tookMs, value } = await waiting;
      expect(tookMs).toBeLessThan(6_000 + SLACK_MS);
      expect(await LOCK.holderOn(server, name)).toBe((value as typeof hold).owner);
      await eventually(() => expect(lost).toMatchObject([{ owner: hold.owner, reason: 'notOwner' }]));
    });

    it('−100 s and back: a holder that is alive keeps the lock and frees it', async () => {
      const { server, shift } = await shiftableServer();
      const name = randomName();
      const client = await join('Holdfast.connect', server, { watchdogMs: 3_000 });
      const hold = await client.getLock(name).lock();
      await shift(-100_000);
      await hold.extend(5_000);
      await shift(0);
      hold.assertHeld();
      expect(await LOCK.holderOn(server, name)).toBe(hold.owner);
      expect(await hold.unlock()).toBe(true);
      expect(await server.command('EXISTS', name)).toBe(0);
    });
  });
});
