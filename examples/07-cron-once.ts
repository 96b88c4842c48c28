/**
 * Three machines wake up for the same nightly job, and the first of them runs it.
 *
 * A lock would not do: it ends with the client, and a machine whose clock is late would find it free. What stays is a
 * semaphore that can be set up only once. The date is in its name, so that the next night is free again; run this
 * twice within the hour, and nobody runs the job. A machine that dies at work has used up the night all the same.
 */
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

/** Longer than clocks of machines differ. */
const KEPT_MS = 3_600_000;

async function onTick(machine: string, night: string): Promise<void> {
  await using client = await Holdfast.connect(redisUrl);
  const isFirst = await client.getSemaphore(`example:cron:${night}`).trySetPermits(1, { ttlMs: KEPT_MS });
  console.log(isFirst ? `${machine} runs the job of ${night}.` : `${machine} leaves it to another.`);
}

for (const night of ['Monday', 'Tuesday']) {
  for (const machine of ['alpha', 'beta', 'gamma']) await onTick(machine, night);
}
