/**
 * All commands. Completion and the guide of the command line are generated from what this returns.
 */
import { Command } from 'commander';
import { defineBench } from './commands/bench.ts';
import { defineCompletion } from './commands/completion.ts';
import { defineDashboard } from './commands/dashboard.ts';
import { defineDemo } from './commands/demo.ts';
import { defineDoctor } from './commands/doctor.ts';
import { defineInspect } from './commands/inspect.ts';
import { defineLs } from './commands/ls.ts';
import { defineRun } from './commands/run.ts';
import { defineUnlock } from './commands/unlock.ts';
import { defineWatch } from './commands/watch.ts';
import { addExamples } from './examples.ts';

/** In the order of the help. */
const COMMANDS = [
  defineLs,
  defineInspect,
  defineWatch,
  defineDashboard,
  defineRun,
  defineUnlock,
  defineDoctor,
  defineBench,
  defineDemo,
  defineCompletion,
];

/** A description of the commands, ready to parse arguments; throws a `CommanderError` instead of exiting. */
export function createProgram(version: string): Command {
  const program = new Command('holdfast')
    .description('Distributed locks for Node.js on Redis and Valkey')
    .version(version)
    .exitOverride()
    // The caller prints the error, in one line.
    .configureOutput({ outputError: () => {} })
    .configureHelp({ helpWidth: 100 });
  for (const define of COMMANDS) define(program);
  return addExamples(program, [
    ['holdfast demo', 'shows how the locks behave'],
    ["holdfast ls 'invoice:*'", 'who holds which of these locks'],
    ['holdfast run nightly-report -- ./report.sh', 'runs a command under a lock'],
    ['holdfast doctor --url redis://cache.internal:6379', 'checks whether this server is fit for locks'],
  ]);
}
