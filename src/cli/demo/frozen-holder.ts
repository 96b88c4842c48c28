/**
 * Scene: a holder is frozen past its lease; on waking it knows of the loss at once, and does no harm.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../render/style.ts';
import { whileLeaseEnds } from './lease-left.ts';
import { demand, LEASE_MS, type Scene } from './stage.ts';

const TAKEN_WITHIN_MS = 2 * LEASE_MS + 1_000;
const STILL_FROZEN_MS = 300;

export const frozenHolder: Scene = {
  title: 'Frozen holder',
  story: 'SIGSTOP freezes the holder until its lease has ended; then SIGCONT wakes the holder',
  async play(stage) {
    const name = stage.name('frozen-holder');
    const { worker, owner } = await stage.holder(name);
    const client = await stage.client();
    const lost = worker.next('lost');

    worker.signal('SIGSTOP');
    const frozenAt = performance.now();
    stage.note(`Process ${worker.pid} is frozen`);
    let takenAfterMs = 0;
    const takeover = client
      .getLock(name)
      .tryLock({ waitMs: TAKEN_WITHIN_MS })
      .finally(() => {
        takenAfterMs = performance.now() - frozenAt;
      });
    const hold = await whileLeaseEnds(stage, name, takeover);
    demand(hold !== null, `no other owner got the lock within ${milliseconds(TAKEN_WITHIN_MS)}`);
    demand(hold.owner !== owner, 'the next holder has the same owner as the frozen holder');
    stage.note(`Another owner got the lock after ${milliseconds(takenAfterMs)}`);
    stage.live('the frozen process still believes that it holds the lock');
    await sleep(STILL_FROZEN_MS);

    worker.signal('SIGCONT');
    const { pausedMs, code, reason, aborted, unlocked } = await lost;
    stage.note(`The process wakes after ${milliseconds(pausedMs)}. Its next line of code:`);
    stage.note(`  assertHeld()    throws ${code} (${reason})`);
    stage.note(`  signal.aborted  ${aborted}`);
    stage.note(`  unlock()        ${unlocked}`);
    // The pause that contained the freeze ended with the detection: no line ran in between.
    demand(pausedMs > takenAfterMs, 'the frozen holder did not notice the loss on its first line');
    demand(code === 'ERR_LEASE_LOST', `assertHeld() threw ${code}`);
    demand(aborted, 'signal was not aborted');
    demand(!unlocked, 'unlock() of the frozen holder returned true');

    const inServer = await stage.redis.hgetall(name);
    const isUntouched = Object.keys(inServer).length === 1 && inServer[hold.owner] === '1';
    demand(isUntouched, `the hash on the server is now ${JSON.stringify(inServer)}`);
    hold.assertHeld();
    demand(await hold.unlock(), 'the next holder lost the lock');
    stage.note('The other owner still holds the lock: the late unlock() changed nothing');
    return [
      {
        label: 'frozen for',
        value: `${milliseconds(pausedMs)}, next holder after ${milliseconds(takenAfterMs)}`,
      },
      { label: 'on waking', value: 'assertHeld() threw, signal aborted' },
      { label: 'its unlock()', value: `${unlocked}, next holder untouched` },
    ];
  },
};
