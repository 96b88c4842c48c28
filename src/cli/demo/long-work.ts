/**
 * Scene: a holder works for longer than its lease, and the watchdog renews the lease.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { curve } from '../render/meters.ts';
import { grouped, milliseconds } from '../render/style.ts';
import { demand, LEASE_MS, type Scene } from './stage.ts';

const WORK_MS = 2.2 * LEASE_MS;
const SAMPLE_EVERY_MS = 120;
/** A lease that grew by this much was renewed; without a renewal it only shrinks. */
const RENEWED_BY_MS = 100;

export const longWork: Scene = {
  title: 'Long work',
  story: `A holder works for ${milliseconds(WORK_MS)} on a lease of ${milliseconds(LEASE_MS)}`,
  async play(stage) {
    const name = stage.name('long-work');
    const [holder, rival] = [await stage.client(), await stage.client()];
    const hold = await holder.getLock(name).lock();
    const startedAt = performance.now();
    const workedMs = () => performance.now() - startedAt;
    const left: number[] = [];
    let renewals = 0;
    let refused = 0;
    while (workedMs() < WORK_MS) {
      const taken = await rival.getLock(name).tryLock();
      demand(taken === null, `a rival got the lock after ${milliseconds(workedMs())}`);
      refused += 1;
      const leftMs = await stage.redis.pttl(name);
      demand(leftMs > 0, `the lock was gone from the server after ${milliseconds(workedMs())}`);
      if (leftMs > (left.at(-1) ?? leftMs) + RENEWED_BY_MS) renewals += 1;
      left.push(leftMs);
      const shown = stage.screen.paint('cyan', curve(left, LEASE_MS));
      stage.live(
        `PTTL ${shown} ${grouped(leftMs).padStart(5)} ms  renewed ${renewals}×  rival refused ${refused}×`,
      );
      await sleep(SAMPLE_EVERY_MS);
    }
    hold.assertHeld();
    const heldMs = workedMs();
    demand(renewals >= 2, `the watchdog renewed the lease ${renewals} times, not at least twice`);
    demand(await hold.unlock(), 'the hold was lost before its unlock()');
    const after = await rival.getLock(name).tryLock();
    demand(after !== null, 'the rival did not get the lock after the release');
    await after.unlock();

    const range = `${grouped(Math.min(...left))} to ${milliseconds(Math.max(...left))}`;
    stage.note(`PTTL ${stage.screen.paint('cyan', curve(left, LEASE_MS))}  ${range}`);
    stage.note(`A rival was refused ${refused} times, and got the lock after the unlock()`);
    return [
      { label: 'held for', value: `${milliseconds(heldMs)} on a lease of ${milliseconds(LEASE_MS)}` },
      { label: 'meanwhile', value: `renewed ${renewals} times, rival refused ${refused} times` },
    ];
  },
};
