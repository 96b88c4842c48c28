/**
 * Three machines wake up for the same nightly job, and one of them runs it.
 *
 * The hold is not given back: it stays for its lease, so that a machine whose clock is a little late finds
 * the night taken. The date is in the name, so that the next night is free again.
 */
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

async function onTick(machine: string, client: Holdfast, night: string): Promise<void> {
  const hold = await client.getLock(`example:cron:${night}`).tryLock({ leaseMs: 60_000 });
  console.log(hold === null ? `${machine} leaves it to another.` : `${machine} runs the job of ${night}.`);
}

const machines = ['alpha', 'beta', 'gamma'];
const clients = await Promise.all(machines.map(() => Holdfast.connect(redisUrl)));
for (const night of ['Monday', 'Tuesday']) {
  await Promise.all(clients.map((client, i) => onTick(machines[i] ?? '', client, night)));
}
await Promise.all(clients.map((client) => client.close()));
