/** Mutants that wait for replicas which do not acknowledge anything. */
import { ReplicationError } from '../../src/index.ts';
import { inspectPrimary } from '../../src/scripts/generated.ts';
import { eventually } from '../../tests/harness/wait.ts';
import { type Interceptor, runs } from './interceptor.ts';
import { type Mutant, mutant } from './mutant.ts';

const NAME = 'invoice:42';

/** Has every replica that is connected look like one that acknowledges. */
const countingAllConnected: Interceptor = async (command, send) => {
  const answer = await send(command);
  if (!runs(command, inspectPrimary)) return answer;
  const [word, info] = answer as [Buffer, Buffer];
  const acknowledging = String(info).replace(/state=\w+,offset=\d+,lag=\d+/g, 'state=online,offset=1,lag=0');
  return [word, Buffer.from(acknowledging)];
};

/** The primary keeps its replicas waiting for their snapshot. */
const HELD_BACK = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '3600'];

const countsEveryReplica = mutant({
  name: 'counts-every-replica',
  row: 33,
  wrong:
    'Every connected replica must acknowledge a grant, even one that is still being synchronised and cannot.',
  breaks: 'left-behind',
  bounds: { takeoverMs: 800 },
  async play(rig) {
    rig.shortStallMs = 300;
    const primary = await rig.server(HELD_BACK);
    await rig.server(['--replicaof', `${primary.host} ${primary.port}`]);
    await eventually(
      async () => String(await primary.command('INFO', 'replication')).includes('state=wait_bgsave'),
      { withinMs: 10_000 },
    );
    const by = rig.isMutant ? countingAllConnected : undefined;
    const options = { replicas: 'auto', replicaTimeoutMs: 200 } as const;
    const lock = (await rig.client(primary, { by, options })).getLock(NAME);
    const caller = rig.recorder('caller');

    const endsAt = performance.now() + 2_000;
    // The caller asks again for as long as the grant is not acknowledged.
    const held = await caller.acquire({ worker: 'w', key: NAME, kind: 'lock' }, async () => {
      while (performance.now() < endsAt) {
        try {
          return await lock.tryLock();
        } catch (error) {
          if (!(error instanceof ReplicationError)) throw error;
        }
      }
      return null;
    });
    await held?.release(() => held.hold.unlock());
  },
});

export const REPLICA_MUTANTS: readonly Mutant[] = [countsEveryReplica];
