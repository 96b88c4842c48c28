/** A Node process whose tasks take part in a storm. */
import { Cluster, Redis } from 'ioredis';
import { Holdfast, type Target } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import { LEASE_MS, type StormSettings, storm, type TraceServer } from '../support/storm.ts';

/**
 * A process that is not heard of for this long and six seconds more loses its place in a fair queue, and rightly so:
 * the others may pass it. It is the longest that counts, and longer than a storm, so that nobody loses it here because
 * a busy machine has no time for this process.
 */
const HEARD_OF_WITHIN = { commandTimeoutMs: 30_000 };

/** A hold without a lease of its own has this one. */
const WATCHDOG = { watchdogMs: LEASE_MS };

/** Every hold writes its traces: on a busy machine a single one can take longer than the default budget of 10 ms. */
const BUDGET = { passOn: { maxMs: 50 } };

const [target, tasks] = process.argv.slice(2).map((each) => JSON.parse(each)) as [
  string | { cluster: { host: string; port: number }[] },
  StormSettings[],
];
const client = await Holdfast.connect(target satisfies string | Target, {
  ...HEARD_OF_WITHIN,
  ...WATCHDOG,
  ...BUDGET,
});
const redis: TraceServer = typeof target === 'string' ? new Redis(target) : new Cluster(target.cluster);

async function takePart(): Promise<void> {
  try {
    const fields = new Set<string>();
    const startsAt = performance.now();
    const entries = await Promise.all(
      tasks.map((each) => storm(client, redis, each, fields, startsAt + each.runMs)),
    );
    tell({ entries, turns: fields.size });
  } catch (error) {
    tell({ error: String(error) });
  }
}

onOrder(() => void takePart());
tell({ ready: true });
