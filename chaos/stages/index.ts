/** Every stage by its name. */
import type { Stage, StageName } from '../fault.ts';
import { startClusterStage } from './cluster.ts';
import { startMasters } from './masters.ts';
import { type StageOptions, startOne } from './one.ts';
import { startReplicasStage } from './replicas.ts';
import { startSentinelStage } from './sentinel.ts';

const STARTS: Record<StageName, (options: StageOptions) => Promise<Stage>> = {
  one: startOne,
  replicas: startReplicasStage,
  sentinel: startSentinelStage,
  cluster: startClusterStage,
  masters: startMasters,
};

/** Starts a stage; without `binary`, with the server on PATH. */
export function startStage(name: StageName, binary?: string): Promise<Stage> {
  return STARTS[name](binary === undefined ? {} : { binary });
}
