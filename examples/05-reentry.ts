/**
 * An owner takes a lock again that it holds: by nesting, in a scope, and as a named owner.
 */
import { Holdfast, ReentryError } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using client = await Holdfast.connect(redisUrl);
const ledger = client.getLock('example:ledger');

async function book(text: string): Promise<void> {
  await ledger.withLock(async () => console.log(`${text}: entered ${await ledger.getHoldCount()} times`));
}

await ledger.withLock(async () => {
  await book('nested');
});

await client.scope(async () => {
  await ledger.lock();
  await book('in a scope');
  await ledger.unlock();
});

const me = client.owner();
await ledger.lock({ owner: me });
await ledger.lock({ owner: me });
console.log(`as a named owner: entered ${await ledger.getHoldCount({ owner: me })} times`);
console.log(`for another owner: ${(await ledger.tryLock()) === null ? 'busy' : 'free'}`);
await ledger.unlock({ owner: me });
await ledger.unlock({ owner: me });

const strict = client.getNonReentrantLock('example:ledger');
await strict.withLock(async () => {
  await strict.lock().catch((error: unknown) => {
    if (!(error instanceof ReentryError)) throw error;
    console.log(`non-reentrant: ${error.code}`);
  });
});
