/**
 * `holdfast watch`: the listing, again and again; at a terminal like `top`, in a pipe one listing after the other.
 */
import { type Command, Option } from 'commander';
import type { Holdfast } from '../../client.ts';
import type { Description } from '../../inspect/description.ts';
import { holdersOf, leaseLeftMs } from '../../inspect/reading.ts';
import { acting } from '../command-action.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection.ts';
import { addExamples } from '../examples.ts';
import { EXIT } from '../exit-codes.ts';
import { messageOf } from '../failure.ts';
import { named, nameOf, patternOf } from '../names.ts';
import { printLines } from '../output.ts';
import { columns, cut } from '../render/columns.ts';
import { LISTING_HEADER, listingRow } from '../render/listing.ts';
import { LiveScreen } from '../render/live-screen.ts';
import { painter } from '../render/style.ts';
import { count, positiveDuration } from '../values.ts';
import { Keyboard } from '../watch/keyboard.ts';
import { ORDERS, type Order, sorted } from '../watch/order.ts';

interface WatchFlags extends ConnectionFlags {
  readonly every: number;
  readonly times?: number;
  readonly sort: Order;
  readonly held?: true;
  readonly counters?: true;
  readonly json?: true;
}

/** A lease with less left is shown in red: at a watchdog of 30 s it has missed renewals. */
const URGENT_MS = 5_000;
const NEXT_KEY = 's';

interface View {
  readonly pattern: string;
  readonly flags: WatchFlags;
  order: Order;
}

async function look(client: Holdfast, { pattern, flags, order }: View): Promise<Description[]> {
  const { keyPrefix, counters = false, held = false } = flags;
  const found = await client.list(patternOf(pattern, keyPrefix), { counters });
  return sorted(
    found.filter((one) => !held || holdersOf(one).length > 0),
    order,
  );
}

function rowsOf(found: readonly Description[], { keyPrefix }: WatchFlags): string[] {
  const now = new Date();
  return columns(
    LISTING_HEADER,
    found.map((one) => listingRow(nameOf(one.key, keyPrefix) ?? one.key, one, now)),
  );
}

function draw(screen: LiveScreen, found: readonly Description[], { pattern, flags, order }: View): void {
  const paint = painter(process.stdout);
  const [header = '', ...rows] = rowsOf(found, flags).map((row) => cut(row, screen.columns - 1));
  const room = screen.rows - 4;
  const hidden = Math.max(0, rows.length - room);
  const title = `holdfast watch ${pattern}  ${found.length} found  ${new Date().toTimeString().slice(0, 8)}`;
  const keys = `by ${order}${hidden > 0 ? `, ${hidden} more below` : ''}  [s] sort  [q] quit`;
  const shown = rows.slice(0, room).map((row, index) => {
    const leftMs = leaseLeftMs(found[index] as Description);
    return leftMs !== null && leftMs < URGENT_MS ? paint('red', row) : row;
  });
  screen.draw([
    cut(title, screen.columns - 1),
    paint('dim', cut(keys, screen.columns - 1)),
    '',
    paint('bold', header),
    ...shown,
  ]);
}

/** Resolves to the exit code when the person ends it. A server that does not answer is told and asked again. */
async function watchLive(client: Holdfast, view: View): Promise<number> {
  using screen = new LiveScreen(process.stdout);
  let found: Description[] = [];
  let wake = () => {};
  using keyboard = new Keyboard((key) => {
    if (key === NEXT_KEY) view.order = ORDERS[(ORDERS.indexOf(view.order) + 1) % ORDERS.length] ?? 'name';
    found = sorted(found, view.order);
    draw(screen, found, view);
  });
  let exitCode: number | undefined;
  const ended = keyboard.ended.then((code) => {
    exitCode = code;
    wake();
  });
  const redraw = () => draw(screen, found, view);
  process.stdout.on('resize', redraw);
  try {
    for (
      let round = 1;
      exitCode === undefined && round <= (view.flags.times ?? Number.POSITIVE_INFINITY);
      round += 1
    ) {
      try {
        const looking = look(client, view);
        // The await below handles a failure. If the person ends it first, closing the client rejects this promise.
        looking.catch(() => undefined);
        await Promise.race([looking, ended]);
        if (exitCode !== undefined) break;
        found = await looking;
        draw(screen, found, view);
      } catch (error) {
        screen.draw([cut(messageOf(error), screen.columns - 1)]);
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, view.flags.every);
        if (exitCode !== undefined) resolve();
      });
    }
  } finally {
    process.stdout.off('resize', redraw);
  }
  return exitCode ?? EXIT.ok;
}

async function watchInPipe(client: Holdfast, view: View): Promise<number> {
  const { json = false, every, times = Number.POSITIVE_INFINITY, keyPrefix } = view.flags;
  using keyboard = new Keyboard(() => {});
  let exitCode: number | undefined;
  let wake = () => {};
  void keyboard.ended.then((code) => {
    exitCode = code;
    wake();
  });
  for (let round = 1; exitCode === undefined; round += 1) {
    const found = await look(client, view);
    const at = new Date().toISOString();
    if (json)
      process.stdout.write(`${JSON.stringify({ at, found: found.map((one) => named(one, keyPrefix)) })}\n`);
    else printLines([at, ...rowsOf(found, view.flags), '']);
    if (round >= times) return EXIT.ok;
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, every);
    });
  }
  return exitCode;
}

async function watch(pattern: string, flags: WatchFlags): Promise<number> {
  await using client = await connect(flags);
  const view: View = { pattern, flags, order: flags.sort };
  const isLive = process.stdout.isTTY === true && process.env['TERM'] !== 'dumb' && flags.json !== true;
  return await (isLive ? watchLive(client, view) : watchInPipe(client, view));
}

export function defineWatch(program: Command): void {
  const command = program
    .command('watch')
    .description('Lists locks again and again: at a terminal like top, otherwise one listing after the other')
    .argument('[pattern]', 'a glob: * any text, ? one character, [ab] one of these', '*')
    .option('--every <time>', 'the pause between two looks', positiveDuration, 1_000)
    .option('--times <n>', 'end after so many looks (default: never)', count)
    .addOption(new Option('--sort <order>', 'what comes first').choices(ORDERS).default('name'))
    .option('--held', 'only what has a holder')
    .option('--counters', 'also whole numbers: semaphores without leases and latches, but your counters too')
    .option('--json', 'one object for each look, on a line of its own')
    .addHelpText(
      'after',
      '\nAt a terminal: s changes the order, q ends. A lease with less than 5 s left is red.' +
        '\nEvery look walks the key space with SCAN: on millions of keys, use a longer pause.',
    );
  command.options.find(({ long }) => long === '--every')?.default(1_000, '1s');
  addConnectionOptions(command);
  addExamples(command, [
    ["holdfast watch 'invoice:*' --sort waiters", 'the most contended locks first'],
    ['holdfast watch --json --every 10s >> locks.jsonl', 'a record of who held what'],
  ]);
  acting(command, watch);
}
