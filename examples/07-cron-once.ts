/**
 * Three machines wake up for the same nightly job, and the first of them runs it.
 *
 * A lock is not enough: it ends with the client, and a machine whose clock is late would find it free. A semaphore
 * stays, and can be set up only once. The date is in its name, so that the next night has a new one. If you run this
 * twice within the hour, no machine runs the job. If a machine dies at work, the job does not run again that night.
 */
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

/** Longer than the clocks of machines differ. */
const KEPT_MS = 3_600_000;

async function onTick(machine: string, night: string): Promise<void> {
  await using client = await Holdfast.connect(redisUrl);
  const isFirst = await client.getSemaphore(`example:cron:${night}`).trySetPermits(1, { ttlMs: KEPT_MS });
  console.log(isFirst ? `${machine} runs the job of ${night}.` : `${machine} does not run it.`);
}

for (const night of ['Monday', 'Tuesday']) {
  for (const machine of ['alpha', 'beta', 'gamma']) await onTick(machine, night);
}
