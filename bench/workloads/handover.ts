/**
 * W5: how long after a release in one process another process has the lock.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LOCKS } from '../contestants/index.ts';
import type { Player } from '../players/player.ts';
import type { HandoverAnswer } from '../players/protocol.ts';
import { percentile } from '../statistics.ts';
import { P50, P99 } from './columns.ts';
import type { Workload } from './workload.ts';

const KEY = 'handover';

/** The first ones run code that was never run before. */
const UNCOUNTED = 2;

/** Until the other waits, and a random while, so that those who poll are not met at the same point of their pause. */
const SETTLE_MS = 20;
const RANDOM_MS = 50;

const WITHIN_MS = 10_000;

function within<T>(promise: Promise<T>): Promise<T> {
  const late = sleep(WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`not acquired within ${WITHIN_MS / 1_000} s of the release`);
  });
  return Promise.race([promise, late]);
}

export const handover: Workload = {
  id: 'W5',
  title: 'Release in one process, acquired in another',
  contestants: LOCKS,
  columns: [P50, P99],
  async measure(stage, contestant, pace) {
    let [holder, waiter] = (await Promise.all([stage.enter(contestant), stage.enter(contestant)])) as [
      Player,
      Player,
    ];
    const acquire = (player: Player) => player.order<HandoverAnswer>({ op: 'acquire', key: KEY });
    await acquire(holder);
    const tookUs: number[] = [];
    for (let round = -UNCOUNTED; round < pace.handovers; round += 1) {
      const acquired = acquire(waiter);
      await sleep(SETTLE_MS + Math.random() * RANDOM_MS);
      const released = await holder.order<HandoverAnswer>({ op: 'release', key: KEY });
      const { atUs } = await within(acquired);
      if (round >= 0) tookUs.push(atUs - released.atUs);
      [holder, waiter] = [waiter, holder];
    }
    return { p50Us: percentile(tookUs, 0.5), p99Us: percentile(tookUs, 0.99) };
  },
};
