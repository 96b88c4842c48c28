// Both builds in one process: an application in ES modules, one of whose dependencies requires holdfast.
import { createRequire } from 'node:module';
import * as modules from 'holdfast';

const commonjs = createRequire(import.meta.url)('holdfast');
const { REDIS_URL, LOCK_NAME } = process.env;
const one = await modules.Holdfast.connect(REDIS_URL);
const other = await commonjs.Holdfast.connect(REDIS_URL);

async function failure(call) {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** A multi lock of a client with the locks of both, entered twice by an owner of each. */
async function heldTogether(client, owner) {
  const [a, b] = [one.getLock(`${LOCK_NAME}:a`), other.getLock(`${LOCK_NAME}:b`)];
  const multi = client.getMultiLock(a, b);
  const hold = await multi.lock({ owner });
  const again = await multi.lock({ owner });
  const told = [await a.isLocked(), await b.isLocked(), await multi.getHoldCount({ owner })];
  await again.unlock();
  await hold.unlock();
  return [...told, await a.isLocked(), await b.isLocked()];
}

const notHeld = await failure(() => other.getLock(LOCK_NAME).unlock());
const wrong = await failure(() => one.getLock(LOCK_NAME).lock({ leaseMs: -1 }));
const nested = await one
  .getLock(`${LOCK_NAME}:c`)
  .withLock(() =>
    other
      .getMultiLock(one.getLock(`${LOCK_NAME}:c`), other.getLock(`${LOCK_NAME}:d`))
      .withLock(() => one.getLock(`${LOCK_NAME}:c`).getHoldCount()),
  );
const owner = one.owner();
// An owner means the same for groups of both builds.
const outer = await one
  .getMultiLock(one.getLock(`${LOCK_NAME}:e`), other.getLock(`${LOCK_NAME}:f`))
  .lock({ owner });
const inner = await other
  .getMultiLock(one.getLock(`${LOCK_NAME}:e`), other.getLock(`${LOCK_NAME}:f`))
  .tryLock({ owner });
console.log(
  JSON.stringify({
    areTwo: modules.Holdfast !== commonjs.Holdfast,
    notHeld: [notHeld instanceof modules.NotHeldError, notHeld instanceof modules.LeaseLostError],
    wrong: [wrong instanceof commonjs.OptionError, wrong instanceof commonjs.NotHeldError],
    together: [await heldTogether(one, other.owner()), await heldTogether(other, one.owner())],
    nested,
    isReentered: inner !== null,
  }),
);
await inner?.unlock();
await outer.unlock();

// Both are closed before the signal ends the process.
for (const [{ Holdfast }, name] of [
  [modules, 'g'],
  [commonjs, 'h'],
]) {
  const client = await Holdfast.connect(REDIS_URL, { closeOnSignals: true });
  await client.getLock(`${LOCK_NAME}:${name}`).lock();
}
await Promise.all([one.close(), other.close()]);
process.kill(process.pid, 'SIGTERM');
setTimeout(() => console.log('still here'), 10_000);
