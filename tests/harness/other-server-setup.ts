/**
 * Runs around the tests of a project that has another version of the server than all others: they find that one where
 * they would find the shared server, and start their own servers with it.
 */
import type { TestProject } from 'vitest/node';
import { startProcess } from './find-server.ts';
import { otherServer } from './other-servers.ts';
import { openClusterDesk } from './shared-cluster.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { otherServer: which } = project.getProvidedContext();
  const binary = await otherServer(which);
  const { url, kind, close } = await startProcess(binary);
  const desk = await openClusterDesk(binary);
  project.provide('serverUrl', url);
  project.provide('serverKind', kind);
  project.provide('serverBinary', binary);
  project.provide('clusterDesk', desk.url);
  return async () => {
    await desk.close();
    await close();
  };
}
