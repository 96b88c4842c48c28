/**
 * The program that a measured Node.js process runs: connects as one contestant, then carries out orders until its
 * standard input ends. Arguments: the server's URL and the contestant's id.
 */
import { createInterface } from 'node:readline';
import { connectIoredis } from '../contestants/clients.ts';
import { contestantById } from '../contestants/index.ts';
import { Handover } from './handover.ts';
import type { Order } from './protocol.ts';
import { runTasks } from './run-tasks.ts';
import { cyclesWithChannels } from './scale/channels.ts';
import { acquisitionsWithGuard } from './scale/guard.ts';
import { Scale } from './scale/scale.ts';

const [url = '', id = ''] = process.argv.slice(2);
const connection = await contestantById(id).connect?.(url);
if (connection === undefined) throw new Error(`${id} does not run in Node.js`);
const redis = await connectIoredis(url);
const handover = new Handover(connection);
const scale = new Scale(url);

function carryOut(order: Order): unknown {
  switch (order.op) {
    case 'run':
      return runTasks(connection as NonNullable<typeof connection>, redis, order);
    case 'acquire':
      return handover.acquire(order.key);
    case 'release':
      return handover.release();
    case 'guard':
      return acquisitionsWithGuard(url, order.rounds);
    case 'channels':
      return cyclesWithChannels(url, order.rounds);
    case 'hold':
      return scale.hold(order.count, order.watchdogMs);
    case 'observe':
      return scale.observe(order.ms);
    case 'drain':
      return scale.drain(order.count);
    case 'wait':
      return scale.wait(order.count);
  }
}

function say(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

say({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  say(await carryOut(JSON.parse(line) as Order));
}
process.exit();
