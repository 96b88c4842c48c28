/** What the tests are told of a Java thread, on which many of them rely. */
import { expect, it } from 'vitest';
import { randomName } from '../harness/names.ts';
import { describeInterop, type Interop } from './support/context.ts';
import { javaLock } from './support/java-objects.ts';

const ROUNDS = 1_000;

function describeThreads(interop: Interop): void {
  it('a thread that only waits for replies is never reported as sleeping', async () => {
    const lock = javaLock(interop.java, 'lock', randomName('interop'));
    let isOver = false;
    let asleep = 0;
    const ask = async () => {
      while (!isOver) {
        const thread = { thread: lock.thread, kind: 'thread', op: 'isAsleep' };
        if (await interop.java.order<boolean>(thread)) asleep += 1;
      }
    };
    const asking = [ask(), ask(), ask()];
    for (let round = 0; round < ROUNDS; round += 1) {
      await lock.lock({ leaseMs: 60_000 });
      await lock.unlock();
    }
    isOver = true;
    await Promise.all(asking);
    expect(asleep).toBe(0);
  });
}

describeInterop({ '3.17.7': [describeThreads] });
