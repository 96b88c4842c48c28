/**
 * Scene: a holder is killed with SIGKILL, and a waiter takes over when the lease ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../render/style.ts';
import { whileLeaseEnds } from './lease-left.ts';
import { demand, LEASE_MS, type Scene } from './stage.ts';

/** How late after the end of the lease a waiter may be, on a busy machine. */
const LATE_MS = 1_000;
/** Two clocks round to milliseconds. */
const ROUNDING_MS = 3;

export const killedHolder: Scene = {
  title: 'Killed holder',
  story: 'SIGKILL ends the process that holds the lock',
  async play(stage) {
    const name = stage.name('killed-holder');
    const { worker, owner } = await stage.holder(name);

    const client = await stage.client();
    let tookOverAt = 0;
    const takeover = client
      .getLock(name)
      .tryLock({ waitMs: 2 * LEASE_MS + LATE_MS })
      .finally(() => {
        tookOverAt = performance.now();
      });
    // The await below handles a failure. If the scene ends before, closing its clients rejects this promise.
    takeover.catch(() => {});
    // Long enough for the waiter to wait and for the holder's watchdog to renew the lease once.
    await sleep(LEASE_MS / 2);
    await worker.kill();
    const killedAt = performance.now();
    const leftMs = await stage.redis.pttl(name);
    demand(leftMs > 0, 'the holder had lost the lock before it was killed');
    stage.note(`Process ${worker.pid} is killed; its lease runs for another ${milliseconds(leftMs)}`);

    const hold = await whileLeaseEnds(stage, name, takeover);
    const afterMs = tookOverAt - killedAt;
    demand(hold !== null, `the waiter did not get the lock within ${milliseconds(afterMs)} of the kill`);
    demand(hold.owner !== owner, 'the waiter has the same owner as the killed process');
    demand(
      afterMs >= leftMs - ROUNDING_MS,
      `the waiter got the lock ${leftMs - afterMs} ms before the lease ended`,
    );
    demand(
      afterMs <= leftMs + LATE_MS,
      `the waiter got the lock only ${afterMs - leftMs} ms after the lease ended`,
    );
    demand(await hold.unlock(), 'the waiter lost the lock at once');
    stage.note(`The waiter got the lock ${milliseconds(afterMs)} after the kill`);
    return [
      { label: 'left at the kill', value: `${milliseconds(leftMs)} of ${milliseconds(LEASE_MS)}` },
      { label: 'waiter took over', value: `${milliseconds(afterMs)} after the kill` },
    ];
  },
};
