/** The caller of `lock()` has its hold before the line that it leaves unsubscribes from its channel. */
import { expect, it } from 'vitest';
import type { Lock } from '../../../src/index.ts';
import type { LockContext } from '../../../src/locks/lock-context.ts';
import { ProtocolLock } from '../../../src/locks/protocol-lock.ts';
import { OwnerNumbers, Sections } from '../../../src/runtime/owner.ts';
import { Bench, HandDrivenProtocol, NotingRenewal } from '../support/bench.ts';

/** The hub keeps as many channels without a listener; it unsubscribes from any other at once. */
const LINGERING = 100;

function setUp() {
  const bench = new Bench();
  const { clock, driver, runtime } = bench;
  driver.answersAtOnce = true;
  // What no lock() reads is left out.
  const context = { runtime, numbers: new OwnerNumbers('c'), clientId: 'c', sections: new Sections() };
  const protocol = new HandDrivenProtocol('a', new NotingRenewal(clock));
  const lock: Lock = new ProtocolLock(context as LockContext, protocol, { reentrant: true });
  return { clock, driver, runtime, protocol, lock };
}

it('lock() resolves before anything is unsubscribed', async () => {
  const { clock, driver, runtime, protocol, lock } = setUp();
  const listener = { onMessage: () => false, onMissed: () => {} };
  for (let i = 0; i < LINGERING; i += 1) runtime.hub.listen(`lingering ${i}`, listener).stop();
  await clock.advance(0);
  const { acquire } = protocol.answers;
  protocol.answers.acquire = async () => ({ status: 'busy', remainingMs: 20_000 });
  const asked = () => driver.connection.log;
  const { channel } = protocol.waiting() as { channel: string };
  const locked = lock.lock().then(() => [...asked()]);
  await clock.advance(0);
  expect(asked()).toContain(`subscribe ${channel}`);

  protocol.answers.acquire = acquire;
  driver.connection.events.onMessage(channel, '0');
  expect(await locked).not.toContain(`unsubscribe ${channel}`);
  await clock.advance(0);
  expect(asked()).toContain(`unsubscribe ${channel}`);
});
