/**
 * The exit codes of the command line, for scripts. The guide lists them from here.
 */
import { constants } from 'node:os';

/** 117 and 118 are free among the codes that shells, `timeout`, `xargs`, sysexits and Python give a meaning. */
export const EXIT = {
  ok: 0,
  failed: 1,
  badInput: 2,
  timedOut: 117,
  lost: 118,
  cannotExecute: 126,
  notFound: 127,
} as const;

/** The code by which shells report the end by a signal. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** What each code means. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  [`${EXIT.ok}`, 'done'],
  [
    `${EXIT.failed}`,
    'failed: the server cannot be reached or refuses, `doctor` found an error, a scene of `demo` failed',
  ],
  [`${EXIT.badInput}`, 'bad input, with one line on stderr; nothing was changed'],
  [`${EXIT.timedOut}`, '`run`: the lock was not free within `--wait`; the command did not start'],
  [`${EXIT.lost}`, '`run`: the lock was lost, or about to be, and the command was ended'],
  [`${EXIT.cannotExecute}`, '`run`: the command cannot be executed'],
  [`${EXIT.notFound}`, '`run`: the command was not found'],
  ['128 + n', 'ended by signal n: the command of `run`, or `holdfast` itself'],
  ['any other', '`run`: the exit code of the command'],
];
