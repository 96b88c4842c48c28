/** Runs a script of a test through a driver. */
import type { ScriptArgument, ScriptReply } from '../../src/drivers/driver.ts';
import type { ScriptRunner } from '../../src/scripts/script.ts';

type Call = (
  driver: ScriptRunner,
  script: string,
  keys: readonly string[],
  args: readonly ScriptArgument[],
) => Promise<ScriptReply>;

const call =
  (name: 'eval' | 'evalsha'): Call =>
  (driver, script, keys, args) =>
    driver.script([name, script, String(keys.length), ...keys, ...args], undefined, keys[0]);

/** By its source. */
export const evalOn = call('eval');

/** By its SHA-1. */
export const evalShaOn = call('evalsha');
