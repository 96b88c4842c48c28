/** Mutants whose fencing tokens do not rise. */
import { fencedLockAcquire } from '../../src/scripts/generated.ts';
import { PatchedScript, patching } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';

const NAME = 'stock:7';

const countedTokens = new PatchedScript(fencedLockAcquire, ['math.max(last + 1, micros)', 'last + 1']);

const tokenByCounting = mutant({
  name: 'token-by-counting',
  wrong:
    'The token is the last token plus one, so tokens start again at 1 when a server restarts without its data.',
  breaks: 'token-fell',
  async play(rig) {
    const server = await rig.server();
    const by = rig.isMutant ? patching(countedTokens) : undefined;
    const holder = rig.recorder('holder');
    const take = async (): Promise<void> => {
      const lock = (await rig.client(server, { by })).getFencedLock(NAME);
      const held = await holder.acquire({ worker: 'w', key: NAME, kind: 'fenced' }, () => lock.lock());
      await held?.release(() => held.hold.unlock());
    };

    await take();
    await take();
    await rig.fault('server-restarted-empty', () => server.restart(), { removesHolds: true });
    await take();
  },
});

export const TOKEN_MUTANTS: readonly Mutant[] = [tokenByCounting];
