/**
 * Sending mails: at most two at a time and five in ten seconds, however many processes send.
 *
 * The permit of a killed process stays taken for good; `getPermitExpirableSemaphore` would free it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Holdfast } from 'holdfast';
import { redisUrl } from './redis-url.ts';

await using client = await Holdfast.connect(redisUrl);
const connections = client.getSemaphore('example:mail:connections');
const pace = client.getRateLimiter('example:mail:pace');
// The first process sets them up; for all others this changes nothing.
await connections.trySetPermits(2);
await pace.trySetRate({ mode: 'overall', rate: 5, intervalMs: 10_000 });

let sending = 0;
let most = 0;

async function send(): Promise<boolean> {
  if (!(await pace.tryAcquire())) return false;
  await connections.withPermit(async () => {
    sending += 1;
    most = Math.max(most, sending);
    await sleep(20);
    sending -= 1;
  });
  return true;
}

const sent = await Promise.all(Array.from({ length: 8 }, send));
console.log(`Sent: ${sent.filter(Boolean).length}. Postponed: ${sent.filter((isSent) => !isSent).length}.`);
console.log(`Never more than two at a time: ${most <= 2}.`);
