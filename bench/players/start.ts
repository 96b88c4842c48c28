/**
 * Starts the process of a contestant, and says beforehand why one cannot be started.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contestant } from '../contestants/contestant.ts';
import { BENCH } from '../folders.ts';
import { buildRedisson, whyNoJava } from './jvm.ts';
import { Player } from './player.ts';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const NEWER_NODE = join(BENCH, 'node_modules', 'node', 'bin', 'node');
const NEW_ENOUGH = 22;

const JVM_FLAGS = ['-Xmx512m', '-Xss256k'];

function nodeFor({ runtime }: Contestant): string {
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= NEW_ENOUGH;
  return runtime === 'node' || isNewEnough ? process.execPath : NEWER_NODE;
}

export async function startPlayer(contestant: Contestant, url: string): Promise<Player> {
  if (contestant.runtime !== 'jvm') return Player.start(nodeFor(contestant), [CHILD, url, contestant.id]);
  return Player.start('java', [...JVM_FLAGS, '-cp', await buildRedisson(), 'bench.Player', url]);
}

/** Why a contestant cannot take part on this machine, or undefined if it can. */
export async function whyMissing(contestant: Contestant): Promise<string | undefined> {
  if (contestant.runtime === 'jvm') return whyNoJava();
  const { needs } = contestant;
  if (needs !== undefined && !existsSync(join(BENCH, 'node_modules', needs))) {
    return `the npm package ${needs} could not be installed`;
  }
  if (!existsSync(nodeFor(contestant))) return `Node.js ${NEW_ENOUGH} or newer could not be installed`;
  return undefined;
}
