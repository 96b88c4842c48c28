/**
 * What every command shares: it resolves to an exit code, and a failure is one line on stderr.
 */
import type { Command } from 'commander';
import { failureOf } from './failure.ts';

/** A resource left open must not keep a finished command from ending. */
const LINGER_MS = 2_000;

function end(exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Reports why a command could not do its work. @param path the command as the user typed it */
export function fail(path: string, error: unknown): void {
  const { message, exitCode } = failureOf(error);
  if (message !== '') process.stderr.write(`${path}: ${message}\n`);
  end(exitCode);
}

/** The name of a command with those of its parents. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/**
 * Sets what the command does.
 *
 * @param act gets the arguments and then the flags, and resolves to the exit code
 */
export function acting<Args extends unknown[]>(
  command: Command,
  act: (...args: Args) => Promise<number> | number,
): void {
  command.action(async (...given: unknown[]) => {
    try {
      // Commander adds the command itself.
      end(await act(...(given.slice(0, -1) as Args)));
    } catch (error) {
      fail(pathOf(command), error);
    }
  });
}
