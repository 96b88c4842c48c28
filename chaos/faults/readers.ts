/** Connections that look like replicas and never acknowledge: backups, change capture. */
import { ANNOUNCED, PLAIN, startReader } from '../../tests/harness/silent-reader.ts';
import type { Fault } from '../fault.ts';
import { defineFault } from './define.ts';
import { upPrimaries } from './pick.ts';

const attached = defineFault({
  name: 'silent-reader',
  rows: [33],
  // Sentinels would take the reader for a replica that they have to watch.
  stages: ['one', 'replicas', 'cluster'],
  lastsMs: [2_000, 5_000],
  begin: async (scene, undo) => {
    const words = scene.random.pick([PLAIN, ANNOUNCED]);
    for (const server of await upPrimaries(scene)) undo(await startReader(server, words));
  },
});

export const READER_FAULTS: readonly Fault[] = [attached];
