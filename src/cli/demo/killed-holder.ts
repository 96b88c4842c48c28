/**
 * Scene: a holder is killed with SIGKILL, and a waiter takes over when the lease ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bar } from '../render/meters.ts';
import { milliseconds } from '../render/style.ts';
import { LEASE_MS, type Scene, type Stage } from './stage.ts';

/** How much later than the end of the lease a waiter may be, on a busy machine. */
const LATE_MS = 1_000;
/** Two clocks round to milliseconds. */
const ROUNDING_MS = 3;
const SAMPLE_EVERY_MS = 50;

/** Shows the lease running down until the scene says that it is over. */
async function countDown(stage: Stage, name: string, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const leftMs = Math.max(0, await stage.redis.pttl(name));
    if (over.aborted) return;
    stage.live(`lease left ${bar(leftMs / LEASE_MS)} ${milliseconds(leftMs).padStart(8)}  a waiter waits`);
    await sleep(SAMPLE_EVERY_MS);
  }
}

export const killedHolder: Scene = {
  title: 'Killed holder',
  story: 'A process that holds the lock is killed with SIGKILL while another one waits',
  async play(stage) {
    const name = stage.name('killed-holder');
    stage.live('starting a process');
    const worker = await stage.worker();
    const held = worker.next('held');
    worker.tell({ do: 'hold', lock: name });
    const { owner } = await held;

    const client = await stage.client();
    let tookOverAt = 0;
    const takeover = client
      .getLock(name)
      .tryLock({ waitMs: 2 * LEASE_MS + LATE_MS })
      .finally(() => {
        tookOverAt = performance.now();
      });
    // Long enough for the waiter to wait and for the watchdog of the holder to renew the lease once.
    await sleep(LEASE_MS / 2);
    await worker.kill();
    const killedAt = performance.now();
    const leftMs = await stage.redis.pttl(name);
    stage.expect(leftMs > 0, 'the holder had lost the lock before it was killed');
    stage.note(`Process ${worker.pid} is killed; its lease goes on for ${milliseconds(leftMs)}`);

    const over = new AbortController();
    const shown = countDown(stage, name, over.signal);
    const hold = await takeover.finally(() => over.abort());
    await shown;
    const afterMs = tookOverAt - killedAt;
    stage.expect(hold !== null, `nobody had taken over ${milliseconds(afterMs)} after the kill`);
    stage.expect(hold.owner !== owner, 'the waiter has the owner of the dead');
    stage.expect(afterMs >= leftMs - ROUNDING_MS, `the waiter was let in ${leftMs - afterMs} ms too early`);
    stage.expect(afterMs <= leftMs + LATE_MS, `the waiter came ${afterMs - leftMs} ms after the lease's end`);
    stage.expect(await hold.unlock(), 'the waiter lost the lock at once');
    stage.note(`The waiter has the lock ${milliseconds(afterMs)} after the kill`);
    return [
      { label: 'left at the kill', value: `${milliseconds(leftMs)} of a lease of ${milliseconds(LEASE_MS)}` },
      { label: 'waiter took over', value: `${milliseconds(afterMs)} after the kill` },
    ];
  },
};
