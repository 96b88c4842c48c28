/**
 * Finds out what a server refused about a script: which key holds something else, which command or key the access
 * rules forbid. Leaves the answer as a note on the error, which passes on unchanged.
 *
 * Runs only after such a refusal, and then asks the server once more: an error reply names neither the key nor, before
 * version 7.2, the command.
 */
import { forbidden, note, strangeValue } from '../explain.ts';
import { serverCode } from '../outcome.ts';
import type { ScriptRunner } from './script.ts';

/** A key that a script was given, and the Redis type that it declares for it. */
export interface UsedKey {
  readonly key: string;
  readonly type: string;
}

/** Enough for every script but those for many locks, and these are repeated for single ones. */
const MOST_KEYS = 16;

/** The words of our own scripts for a value of the right type that is something else. */
const STRANGE = /^(?:ERR|WRONGTYPE) the key holds (.*?)(?: script: [0-9a-f]{40}, on @user_script:\d+\.?)?$/;

/** The command that a rule is missing for, by the server. */
const FORBIDDEN_COMMAND = /run the '([^']+)' command/;

/** The line of a script at which it failed. */
const LINE = /@user_script: ?(\d+)/;
const CALLED = /redis\.p?call\('(\w+)'/;

/** Whether the error is one that `noteRefused` can say more about. */
export function isRefused(error: unknown): boolean {
  const code = serverCode(error);
  return (
    code === 'WRONGTYPE' || code === 'NOPERM' || STRANGE.test((error as Error | undefined)?.message ?? '')
  );
}

export async function noteRefused(
  runner: ScriptRunner,
  error: unknown,
  { name, source }: { readonly name: string; readonly source: string },
  used: readonly UsedKey[],
): Promise<void> {
  const { message } = error as Error;
  if (serverCode(error) === 'NOPERM') {
    const rules = missingRules(message, source, used);
    if (rules.length > 0) note(error, forbidden(error, rules));
    return;
  }
  const [main] = used;
  const other = await findOther(runner, used.slice(0, MOST_KEYS));
  if (other !== undefined) {
    const { key, holds, type } = other;
    note(error, strangeValue(key, `a ${holds} instead of a ${type}: it is not a ${kindOf(name)}`));
  } else if (main !== undefined) {
    const found = message.startsWith('ERR') ? STRANGE.exec(message)?.[1] : undefined;
    note(error, strangeValue(main.key, found ?? `a value that is not a ${kindOf(name)}`));
  }
}

/** What the script is for, by its folder: the last word of `fair-lock/acquire`, for example. */
function kindOf(script: string): string {
  return /(lock|semaphore|latch|limiter|register)\//.exec(script)?.[1] ?? 'lock';
}

/** The key that holds another type than the script expects; undefined if there is none, or the server does not say. */
async function findOther(runner: ScriptRunner, used: readonly UsedKey[]) {
  const { inquirer = runner } = runner;
  const typeOf = async ({ key }: UsedKey) => inquirer.script(['type', key], undefined, key);
  // The answer only adds words to an error: without permission for TYPE, the error has fewer of them.
  const types = await Promise.all(used.map((one) => typeOf(one).catch(() => 'none')));
  const all = used.map((one, index) => ({ ...one, holds: String(types[index]) }));
  return all.find(({ type, holds }) => type !== 'any' && holds !== 'none' && holds !== type);
}

function missingRules(message: string, source: string, used: readonly UsedKey[]): string[] {
  const command = FORBIDDEN_COMMAND.exec(message)?.[1]?.toLowerCase();
  if (command === 'eval' || command === 'evalsha') return ['+evalsha', '+eval'];
  if (command !== undefined) return [`+${command}`];
  if (/keys?\b/i.test(message.replace(LINE, '')))
    return [...new Set(used.flatMap(({ key }) => rulesFor(key)))];
  const line = source.split('\n')[Number(LINE.exec(message)?.[1]) - 1];
  const called = CALLED.exec(line ?? '')?.[1];
  return called === undefined ? [] : [`+${called.toLowerCase()}`];
}

/** The rules for every key that a name needs, whatever is made under it. */
function rulesFor(key: string): string[] {
  if (key.includes('holdfast_guard')) return [`~${glob(key.replace(/(holdfast_guard).*/s, '$1'))}*`];
  if (key.startsWith('holdfast_client:')) return ['~holdfast_client*'];
  const own = key.replace(/^(?:redisson|holdfast)_\w+:/, '');
  const name = /^\{([^}]*)\}/.exec(own)?.[1] ?? own;
  // A name that brings its own braces gets no others.
  const tagged = glob(name.includes('{') ? name : `{${name}}`);
  return [`~${glob(name)}`, `~${tagged}*`, `~redisson_*:${tagged}*`, `~holdfast_*:${tagged}*`];
}

/** A pattern that matches this text. */
function glob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
