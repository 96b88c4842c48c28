/** The shortest leases are kept too: the watchdog comes at a third of the lease, however short that is. */
import { expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeWithProcess } from '../harness/servers.ts';
import { arena, join, listenTo, seen } from './support/arena.ts';
import { LAYOUTS } from './support/kinds.ts';

describeWithProcess('a short watchdogMs', () => {
  it.each(LAYOUTS)('keeps $title over many leases', async (kind) => {
    const { server, proxy } = await arena();
    const name = randomName();
    const client = await join('Holdfast.connect', proxy, { watchdogMs: 900 });
    const { lost } = listenTo(client);
    const from = performance.now();
    const hold = await kind.get(client, name).lock();
    for (let renewal = 0; renewal < 6; renewal += 1) await seen(proxy, kind.requests.renew);
    hold.assertHeld();
    expect(lost).toEqual([]);
    expect(await kind.holderOn(server, name)).toBe(hold.owner);
    // Six thirds and some noise, not six times whatever else the timer is set to.
    expect(performance.now() - from).toBeLessThan(4_500);
  });
});
