/**
 * A worker that serves its metrics for Prometheus: waits, holds, time-outs and losses, by group.
 *
 * Alone it works for a moment and reads its own metrics. With a `PORT` it goes on until it gets SIGTERM.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Holdfast } from 'holdfast';
import { observe } from 'holdfast/prometheus';
import { register } from 'prom-client';
import { redisUrl } from './redis-url.ts';

// A name has no bound, a group has: `example:order:42` counts as `order`.
observe({ groupName: (name) => name.split(':')[1] ?? 'none' });

async function answer(response: ServerResponse): Promise<void> {
  response.setHeader('content-type', register.contentType);
  response.end(await register.metrics());
}

const server = createServer((_request, response) => void answer(response));
const { PORT } = process.env;
server.listen(Number(PORT ?? 0), '127.0.0.1');
await once(server, 'listening');
const metricsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;

// A short watchdog: a hold that is lost on the server is noticed within 0.3 s.
await using worker = await Holdfast.connect(redisUrl, { watchdogMs: 900, warnHeldMs: 100 });
await using rival = await Holdfast.connect(redisUrl);
worker.on('warning', () => {}); // It holds the leadership for long on purpose.
const leadership = worker.getLock('example:leader');

/** Two workers want the same order; one has to wait. A rival wants the leadership, and gives up. */
async function work(): Promise<void> {
  const order = worker.getLock('example:order:42');
  await Promise.all([order.withLock(() => sleep(20)), order.withLock(() => sleep(20))]);
  const taken = await rival.getLock('example:leader').tryLock({ waitMs: 10 });
  await taken?.unlock();
}

async function shown(metric: string): Promise<string | undefined> {
  const text = await (await fetch(metricsUrl)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${metric} `))
    ?.slice(metric.length + 1);
}

async function oneRound(): Promise<void> {
  const hold = await leadership.lock();
  await work();
  console.log(`Held now: ${await shown('holdfast_held{group="leader",kind="lock"}')}.`);
  console.log(`Contended: ${await shown('holdfast_contended_total{group="order",kind="lock"}')}.`);
  console.log(`Timed out: ${await shown('holdfast_timeouts_total{group="leader",kind="lock"}')}.`);
  const lost = once(hold.signal, 'abort');
  await rival.getLock('example:leader').forceUnlock();
  await lost;
  console.log(`Lost: ${await shown('holdfast_losses_total{group="leader",kind="lock",reason="notOwner"}')}.`);
}

async function untilTold(): Promise<void> {
  const told = new AbortController();
  process.once('SIGTERM', () => told.abort());
  console.log(`Metrics at ${metricsUrl}`);
  while (!told.signal.aborted) {
    const hold = await leadership.lock();
    while (!hold.signal.aborted && !told.signal.aborted) await work();
    await hold.unlock();
  }
}

await (PORT === undefined ? oneRound() : untilTold());
server.close();
server.closeAllConnections();
