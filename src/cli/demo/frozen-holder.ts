/**
 * Scene: a holder is frozen past its lease; when it wakes it knows at once, and harms nobody.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds } from '../render/style.ts';
import { LEASE_MS, type Scene } from './stage.ts';

const TAKEN_WITHIN_MS = 2 * LEASE_MS + 1_000;
const STILL_FROZEN_MS = 300;

export const frozenHolder: Scene = {
  title: 'Frozen holder',
  story: 'A process that holds the lock is frozen (SIGSTOP) past its lease, and woken (SIGCONT)',
  async play(stage) {
    const name = stage.name('frozen-holder');
    stage.live('starting a process');
    const worker = await stage.worker();
    const held = worker.next('held');
    worker.tell({ do: 'hold', lock: name });
    const { owner } = await held;
    const client = await stage.client();
    const lost = worker.next('lost');

    worker.signal('SIGSTOP');
    const frozenAt = performance.now();
    stage.note(`Process ${worker.pid} is frozen`);
    stage.live('another one waits for the lock');
    const hold = await client.getLock(name).tryLock({ waitMs: TAKEN_WITHIN_MS });
    const takenAfterMs = performance.now() - frozenAt;
    stage.expect(hold !== null, `nobody else got the lock within ${milliseconds(TAKEN_WITHIN_MS)}`);
    stage.expect(hold.owner !== owner, 'the next holder has the owner of the frozen one');
    stage.note(`Another one has the lock after ${milliseconds(takenAfterMs)}`);
    stage.live('the frozen process still believes that it holds the lock');
    await sleep(STILL_FROZEN_MS);

    worker.signal('SIGCONT');
    const { pausedMs, code, reason, aborted, unlocked } = await lost;
    stage.note(`It wakes after ${milliseconds(pausedMs)}; its first line is hold.assertHeld()`);
    stage.note(
      `  assertHeld() throws ${code} (${reason}), signal.aborted is ${aborted}, unlock() is ${unlocked}`,
    );
    // The pause in which it was frozen is the one after which it knew: no line ran in between.
    stage.expect(pausedMs > takenAfterMs, 'the frozen holder did not learn of it on its first line');
    stage.expect(code === 'ERR_LEASE_LOST', `assertHeld() threw ${code}`);
    stage.expect(aborted, 'signal was not aborted');
    stage.expect(!unlocked, 'unlock() of the frozen holder answered true');

    const inServer = await stage.redis.hgetall(name);
    const isUntouched = Object.keys(inServer).length === 1 && inServer[hold.owner] === '1';
    stage.expect(isUntouched, `the hash in the server became ${JSON.stringify(inServer)}`);
    hold.assertHeld();
    stage.expect(await hold.unlock(), 'the next holder lost the lock');
    stage.note('The other one holds the lock as before');
    return [
      {
        label: 'frozen for',
        value: `${milliseconds(pausedMs)}, another got the lock after ${milliseconds(takenAfterMs)}`,
      },
      { label: 'on waking', value: `assertHeld() threw ${code} on the first line, signal aborted` },
      { label: 'its unlock()', value: `${unlocked}, the new holder was not touched` },
    ];
  },
};
