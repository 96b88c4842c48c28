/**
 * How a command ends that cannot do its work: one line on stderr, and an exit code.
 */
import { CommanderError } from 'commander';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { printable } from './render/printable.ts';

/** Bad input: nothing was changed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A signal ended the command: the exit code is the one that shells use for it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`);
    this.exitCode = exitCodeOf(signal);
  }
}

export interface Failure {
  /** One line; empty where everything was said. */
  readonly message: string;
  readonly exitCode: number;
}

function isBadOption(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_INVALID_OPTION';
}

/** One line, whatever the text of the error is. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error && error.message !== '' ? error.message : String(error);
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    // Help and version are no failures. Commander's own code for bad input is 1.
    if (error.exitCode === 0) return { message: '', exitCode: EXIT.ok };
    return { message: messageOf(error).replace(/^error: /, ''), exitCode: EXIT.badInput };
  }
  const message = messageOf(error);
  if (error instanceof Interrupted) return { message, exitCode: error.exitCode };
  const isUsage = error instanceof UsageError || isBadOption(error);
  return { message, exitCode: isUsage ? EXIT.badInput : EXIT.failed };
}
