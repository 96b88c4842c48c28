/**
 * Runs once around the whole test run: finds a server, if any project needs one, tells the tests where it is, and
 * reports at the end what was skipped. On CI a skipped test makes the run fail.
 */
import type { TestProject } from 'vitest/node';
import { type FoundServer, findServer } from './find-server.ts';
import { type ClusterDesk, openClusterDesk } from './shared-cluster.ts';
import { countTests, namesOfSkipped } from './skipped.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The server that all tests share; names are random, so they do not meet. */
    serverUrl: string;
    serverKind: 'url' | 'process' | 'embedded';
    /** The program that tests start servers of their own with; null when there is none. */
    serverBinary: string | null;
    /** Where tests ask for the Cluster that all of them share; null when there cannot be one. */
    clusterDesk: string | null;
  }
}

/** The projects whose tests speak to no server. */
const WITHOUT_SERVER = ['unit', 'site'];

let found: FoundServer | undefined;
let desk: ClusterDesk | undefined;
let project: TestProject | undefined;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

export async function setup(started: TestProject): Promise<void> {
  project = started;
  if (started.vitest.projects.every(({ name }) => WITHOUT_SERVER.includes(name))) return;
  found = await findServer(say);
  say(`Tests run against ${found.description}`);
  started.provide('serverUrl', found.url);
  started.provide('serverKind', found.kind);
  started.provide('serverBinary', found.binary);
  desk = found.binary === null ? undefined : await openClusterDesk(found.binary);
  started.provide('clusterDesk', desk?.url ?? null);
}

export async function teardown(): Promise<void> {
  await desk?.close();
  await found?.close();
  if (project === undefined) return;
  const skipped = namesOfSkipped(project.vitest);
  const { passed, failed } = countTests(project.vitest);
  say(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
  if (skipped.length === 0) return;
  say(`Skipped ${skipped.length} tests:\n${skipped.map((name) => `  ${name}`).join('\n')}`);
  const { CI = '' } = process.env;
  if (CI !== '') {
    say('On CI nothing may be skipped: the run fails.');
    process.exitCode = 1;
  }
}
