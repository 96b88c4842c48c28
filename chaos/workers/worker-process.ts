/**
 * A worker process: some workers that use locks until they are told to stop, and record what they see.
 *
 * The nemesis may stop, kill or block it at any point. What it recorded before is on disk by then.
 */
import { setTimeout } from 'node:timers/promises';
import { LeaseLostError } from '../../src/index.ts';
import { Random } from '../../src/testing/history/random.ts';
import { Recorder } from '../../src/testing/history/recorder.ts';
import { onOrder, tell } from '../../tests/harness/in-child.ts';
import { WitnessClient } from '../witness/client.ts';
import { type Connected, connectTo } from './connect.ts';
import type { Farewell, Order, Post, StormOrder, WorkerSettings } from './settings.ts';
import { visitOf, weigh } from './visits/index.ts';
import { BrokenPromiseError } from './visits/input.ts';
import { pause, type VisitContext } from './visits/visit.ts';

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;
/** A socket is there for a moment after it was closed. */
const SOCKETS_CLOSE_WITHIN_MS = 3_000;
const broken: string[] = [];

process.on('unhandledRejection', (reason) => {
  broken.push(`Unhandled rejection: ${reason instanceof Error ? reason.stack : String(reason)}`);
});

const witness = await WitnessClient.connect(settings.witness);
let watchdogMs = 30_000;
let connected: Connected = { clients: [], close: async () => {} };
let storming: Promise<void> = Promise.resolve();
let over = new AbortController();

/** Longer than most visits, or hardly any lock would be handed on. */
const PASS_ON = { maxMs: 100 };

/** A process that takes the place of a dead one may come while the servers are away. */
async function connect({ target, options }: Post): Promise<Connected> {
  const passOn = settings.passesOn ? PASS_ON : false;
  for (;;) {
    try {
      return await connectTo(target, settings.way, { ...options, passOn });
    } catch {
      await pause(100);
    }
  }
}

async function join(post: Post): Promise<void> {
  watchdogMs = post.options.watchdogMs ?? watchdogMs;
  connected = await connect(post);
  tell({ joined: true });
}

async function work(context: VisitContext, order: StormOrder): Promise<void> {
  const { random } = context;
  const names = weigh(order.visits);
  while (!over.signal.aborted) {
    try {
      await visitOf(random.pick(names))(context);
    } catch (error) {
      if (error instanceof BrokenPromiseError) broken.push(error.message);
      // A server that refuses at once would be asked in a tight loop.
      if (!(error instanceof LeaseLostError)) await pause(random.between(1, 30));
    }
  }
}

async function storm(order: StormOrder): Promise<void> {
  over = new AbortController();
  const { clients } = connected;
  const [client] = clients;
  if (client === undefined) throw new Error('There is no client to work with');
  const recorder = Recorder.toFile(order.historyFile, settings.proc);
  const workers = Array.from({ length: settings.workers }, (_, index) =>
    work(
      {
        clients,
        client,
        recorder,
        witness,
        random: new Random(`${order.seed}/${settings.proc}/${index}`),
        worker: `w${index}`,
        prefix: order.prefix,
        watchdogMs,
        over: over.signal,
      },
      order,
    ),
  );
  await Promise.all(workers);
  recorder.close();
}

async function leave(): Promise<void> {
  await connected.close();
  const endsAt = performance.now() + SOCKETS_CLOSE_WITHIN_MS;
  while (leaked().length > 0 && performance.now() < endsAt) await setTimeout(20, undefined, { ref: false });
  const farewell: Farewell = { left: true, broken: broken.splice(0), resources: leaked() };
  tell({ ...farewell });
}

/** What keeps the process alive, but for its standard streams and the witness's pipe. */
function leaked(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => !/^(Pipe|TTY|FSReq|Immediate)/.test(kind));
}

onOrder((message) => {
  const order = message as unknown as Order;
  switch (order.order) {
    case 'join':
      void join(order);
      break;
    case 'storm':
      storming = storm(order);
      break;
    case 'calm':
      over.abort();
      void storming.then(() => tell({ calm: true, broken: broken.splice(0) }));
      break;
    case 'block':
      block(order.ms);
      break;
    case 'end':
      if (order.how === 'exit') process.exit(7);
      process.nextTick(() => {
        throw new Error('An uncaught error');
      });
      break;
    case 'leave':
      void leave();
  }
});

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
