/**
 * The process that runs the blocks of documentation, one after another; their paths are its arguments. Says
 * one line of JSON for each: what it printed, and why it failed if it did.
 */
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';

/** What is said about a block. */
export interface BlockRun {
  readonly path: string;
  readonly printed: readonly string[];
  readonly failure: string | null;
}

const EACH_WITHIN_MS = 10_000;

// Examples call addresses that do not exist, and servers that they have started.
const callServer = globalThis.fetch;
globalThis.fetch = async (input, init) =>
  String(input).startsWith('http://127.0.0.1:') ? callServer(input, init) : new Response('paid');

let printed: string[] = [];
console.log = (...values: unknown[]) => {
  printed.push(format(...values));
};

const strays: unknown[] = [];
process.on('unhandledRejection', (error) => strays.push(error));

async function run(path: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took more than ${EACH_WITHIN_MS} ms`)), EACH_WITHIN_MS);
  });
  try {
    // The work of a CommonJS block is what it exports.
    const work = import(pathToFileURL(path).href).then((module: { default?: unknown }) => module.default);
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
  // Node tells of unhandled rejections a turn later.
  await new Promise(setImmediate);
  if (strays.length > 0) throw strays.shift();
}

for (const path of process.argv.slice(2)) {
  printed = [];
  const failure = await run(path).then(
    () => null,
    (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
  );
  const told: BlockRun = { path, printed, failure };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
// A block that failed may have left connections open.
process.exit(0);
