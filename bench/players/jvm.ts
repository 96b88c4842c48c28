/**
 * Builds the Java program of `bench/redisson` with Maven, once for each state of its sources.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { BENCH } from '../folders.ts';

const PROJECT = join(BENCH, 'redisson');
const TARGET = join(PROJECT, 'target');
const STAMP = join(TARGET, 'built-from');

const OLDEST_JDK = 17;

/** On a fresh machine Maven loads some hundred files first. */
const MAVEN_WITHIN_MS = 240_000;

function sourcesHash(): string {
  const sources = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.java'))
    .map((file) => join('src', file))
    .sort();
  const hash = createHash('sha256');
  for (const file of ['pom.xml', ...sources]) hash.update(file).update(readFileSync(join(PROJECT, file)));
  return hash.digest('hex');
}

/** The class path of the program, built if need be. */
export async function buildRedisson(): Promise<string> {
  const hash = sourcesHash();
  if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== hash) {
    const pom = join(PROJECT, 'pom.xml');
    const args = ['--quiet', '--batch-mode', '--file', pom, 'compile', 'dependency:copy-dependencies'];
    await promisify(execFile)('mvn', args, { timeout: MAVEN_WITHIN_MS });
    await writeFile(STAMP, hash);
  }
  return [join(TARGET, 'classes'), join(TARGET, 'dependency', '*')].join(delimiter);
}

function firstLine(error: unknown): string {
  const { stdout = '', message } = error as Error & { stdout?: string };
  return (stdout || message).trim().split('\n')[0] ?? '';
}

/** Why Redisson cannot take part on this machine, or undefined if it can. */
export async function whyNoJava(): Promise<string | undefined> {
  const javac = spawnSync('javac', ['-version'], { encoding: 'utf8' });
  const version = Number(/^javac (\d+)/.exec(javac.stdout ?? '')?.[1] ?? 0);
  if (version < OLDEST_JDK) return `there is no JDK of at least version ${OLDEST_JDK}`;
  if (spawnSync('mvn', ['--version'], { stdio: 'ignore' }).status !== 0) return 'there is no Maven';
  try {
    await buildRedisson();
    return undefined;
  } catch (error) {
    return `Maven failed: ${firstLine(error)}`;
  }
}
