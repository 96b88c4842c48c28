/** A permit that is held: what it is told while it is being given back. */
import { expect, it } from 'vitest';
import { HeldPermit, HeldPermits } from '../../../src/counters/expirable-permit.ts';
import type { ExpirablePermitProtocol } from '../../../src/counters/expirable-permit-protocol.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';

it('keeps its deadline while it is released by its id, and is not renewed', async () => {
  const { clock, runtime } = new Bench({ watchdogMs: 3_000 });
  const renewal = new NotingRenewal(clock);
  const protocol = new HandDrivenProtocol('a', renewal) as unknown as ExpirablePermitProtocol;
  const grant = { owner: 'id', sentAt: runtime.leaseClock.sendTime(), leaseMs: 3_000 };
  const permit = new HeldPermit(runtime, new HeldPermits(renewal.renew), protocol, grant, true);
  const { signal } = permit;
  await clock.advance(500);
  permit.leaving();
  // The server gives it to others after 3 s, and has not answered yet.
  await clock.advance(2_400);
  expect(renewal.calls).toEqual([]);
  expect(signal.aborted).toBe(true);
});
