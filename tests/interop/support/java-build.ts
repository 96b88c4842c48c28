/**
 * Builds the Java program of this folder through Maven, once: what is built is kept under `.cache`, named after
 * what it was made of. What a JVM is then told is left to `java-peer.ts`.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { Holdfast } from '../../../src/index.ts';
import type { RedissonVersion } from './versions.ts';

const PROJECT = fileURLToPath(new URL('../java/', import.meta.url));
const CACHE = fileURLToPath(new URL('../../../.cache/interop/', import.meta.url));

/** On a fresh machine Maven loads some hundred files first. */
const MAVEN_WITHIN_MS = 240_000;

/** Classes, and the libraries of one version. */
const MAVEN_RUNS = 2;

/** Test files run in two workers, and build one after the other: one's own build may come behind another. */
const BUILDS = 2;

const STARTED_WITHIN_MS = 60_000;

/** How long it may take until a test file has its servers and its JVM, if everything is to be built first. */
export const BUILT_WITHIN_MS = BUILDS * MAVEN_RUNS * MAVEN_WITHIN_MS + STARTED_WITHIN_MS;

const OLDEST_JDK = 17;

function isOnPath(program: string): boolean {
  const { PATH = '' } = process.env;
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether this machine can build and run the program. */
export function hasJava(): boolean {
  if (!isOnPath('java') || !isOnPath('mvn')) return false;
  const { status, stdout } = spawnSync('javac', ['-version'], { encoding: 'utf8' });
  return status === 0 && Number(/^javac (\d+)/.exec(stdout)?.[1]) >= OLDEST_JDK;
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(path).update(await readFile(join(PROJECT, path)));
  return hash.digest('hex').slice(0, 12);
}

async function sources(): Promise<string[]> {
  const files = await readdir(join(PROJECT, 'src'), { recursive: true });
  return files
    .filter((file) => file.endsWith('.java'))
    .map((file) => join('src', file))
    .sort();
}

async function maven(goal: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const given = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`);
  const args = ['--quiet', '--batch-mode', '--file', join(PROJECT, 'pom.xml'), goal, ...given];
  try {
    await promisify(execFile)('mvn', args, { timeout: MAVEN_WITHIN_MS });
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    throw new Error(`mvn ${goal} failed: ${message}\n${stdout}`, { cause: error });
  }
}

/** Fills a folder, which is there only when it is complete. */
async function make(folder: string, fill: (unfinished: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const unfinished = `${folder}.${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await fill(unfinished);
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** The class path of the program with one version of Redisson, built if need be. */
export async function javaClassPath(version: RedissonVersion): Promise<string> {
  const classes = join(CACHE, `classes-${await hashOf(['pom.xml', ...(await sources())])}`);
  const libraries = join(CACHE, `redisson-${version}-${await hashOf(['pom.xml'])}`);
  if (!existsSync(classes) || !existsSync(libraries)) {
    // Test files run side by side, and Maven's own folder is not made for several at once. Fair, so that nobody
    // waits for more than one other.
    await using client = await Holdfast.connect(inject('serverUrl'));
    await client.getFairLock('interop:build').withLock(async () => {
      await make(classes, (folder) => maven('compile', { 'peer.target': folder }));
      await make(libraries, (outputDirectory) =>
        maven('dependency:copy-dependencies', {
          'redisson.version': version,
          includeScope: 'runtime',
          outputDirectory,
        }),
      );
    });
  }
  return [join(classes, 'classes'), join(libraries, '*')].join(delimiter);
}
