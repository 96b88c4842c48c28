/** Nothing answers, and a holder is told before its lease can end on the server. */
import { expect, it } from 'vitest';
import { LABEL, randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { aborted, arena, expiryOf, join, listenTo } from './support/arena.ts';
import { LAYOUTS } from './support/kinds.ts';
import { CASES } from './support/unanswered.ts';

describeWithProcess('nothing answers for longer than the lease', () => {
  it.each(CASES)(
    '$title, $way: signals abort before the server grants another owner',
    async ({ way, fault }) => {
      const place = await arena();
      const { server, proxy } = place;
      const client = await join(way, proxy, { watchdogMs: 4_000, commandTimeoutMs: 500 });
      const { lost, atRisk } = listenTo(client);
      const holders = LAYOUTS.map(async (kind) => {
        const name = randomName(kind.title);
        const hold = await kind.get(client, name).lock();
        const told = aborted(hold.signal);
        return { kind, name, hold, told, expiresAt: await expiryOf(server, name) };
      });
      const held = await Promise.all(holders);
      await fault.begin(place);
      for (const { kind, name, hold, told, expiresAt } of held) {
        const { value, atWallMs } = await told;
        expect(value).toMatchObject({ code: 'ERR_LEASE_LOST', reason: 'unreachable', lockName: name });
        expect(atWallMs).toBeLessThan(expiresAt);
        expect(() => hold.assertHeld()).toThrow('no renewal reached the server in time');
        expect(hold.remainingMs).toBe(0);
        expect(await hold.unlock()).toBe(false);
        const { owner } = hold;
        expect(lost).toContainEqual({ kind: kind.kind, name, owner, label: LABEL, reason: 'unreachable' });
        expect(atRisk.filter((event) => event.owner === owner)).toHaveLength(1);
      }
      await fault.end(place);
      for (const { kind, name } of held) {
        const next = await kind.get(client, name).tryLock({ waitMs: 5_000 });
        expect(await next?.unlock()).toBe(true);
      }
    },
  );
});
