/**
 * A server dies and comes back empty. With the guard, the lock stays with its holder.
 *
 * The example needs `redis-server` or `valkey-server` on PATH, since it kills the server.
 */
import { Holdfast } from 'holdfast';
import { startServer } from 'holdfast/testing';

await using server = await startServer();
// All clients need the same grace. Five seconds instead of thirty keep the example short.
const guarded = { guard: { graceMs: 5_000 }, watchdogMs: 5_000 };
await using worker = await Holdfast.connect(server.url, guarded);
await using stranger = await Holdfast.connect(server.url, guarded);

// The server has just started: no owner gets a lock for one grace.
const hold = await worker.getLock('payments').lock();
console.log('1. The worker holds the lock.');

await server.restart();
console.log('2. The server has restarted without its data.');
console.log(`3. Another owner gets the lock: ${(await stranger.getLock('payments').tryLock()) !== null}.`);

await hold.extend(5_000);
hold.assertHeld();
console.log('4. The worker still holds the lock.');

await hold.unlock();
await stranger
  .getLock('payments')
  .withLock(() => console.log('5. After the grace, another owner gets the lock.'));
