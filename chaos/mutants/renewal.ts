/** Mutants that do not keep a hold alive as they should. */
import { lockRenew } from '../../src/scripts/generated.ts';
import { type Interceptor, requestOf, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';
import { at } from './retimed-hold.ts';

const NAME = 'invoice:42';
const WATCHDOG_MS = 900;

/** Once a renewal has failed, no other is sent. */
function givingUp(): Interceptor {
  let failure: unknown;
  return async (command, send) => {
    if (!runs(command, lockRenew)) return send(command);
    if (failure !== undefined) throw failure;
    try {
      return await send(command);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
}

const givesUpRenewing = mutant({
  name: 'gives-up-renewing',
  wrong:
    'The watchdog stops at the first renewal that fails, and a hold is lost to a connection that broke for a moment.',
  breaks: 'early-loss',
  bounds: { settleMs: 100 },
  async play(rig) {
    const server = await rig.server();
    const proxy = await rig.proxy(server);
    const by = rig.isMutant ? givingUp() : undefined;
    const lock = (await rig.client(proxy, { by, options: { watchdogMs: WATCHDOG_MS } })).getLock(NAME);
    const holder = rig.recorder('holder');

    const first = proxy.holdRequest(requestOf(lockRenew));
    const held = await holder.acquire({ worker: 'w', key: NAME, kind: 'lock' }, () => lock.lock());
    await first.held;
    const second = proxy.holdRequest(requestOf(lockRenew));
    first.release();
    await second.held;
    // The second renewal is lost with its connection, and never reaches the server.
    await rig.fault('connection-reset', async () => proxy.dropConnections());
    await at(performance.now() + 1.5 * WATCHDOG_MS);
    await held?.release(() => held.hold.unlock());
  },
});

export const RENEWAL_MUTANTS: readonly Mutant[] = [givesUpRenewing];
