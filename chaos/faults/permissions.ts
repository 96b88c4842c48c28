/** What the user of all clients may do changes while they hold and wait. Calls fail, or do without; no promise ends. */
import type { Fault } from '../fault.ts';
import { FAULT_PASSWORD, obeys, restoreRights } from '../stages/repair.ts';
import { defineFault } from './define.ts';
import { some, upPrimaries } from './pick.ts';

function changedRights(name: string, rules: readonly string[], then?: readonly [string, ...string[]]): Fault {
  return defineFault({
    name,
    rows: [16],
    // Not where servers log in to each other as the same user: that is another fault.
    stages: ['one', 'replicas', 'masters'],
    lastsMs: [1_000, 3_000],
    begin: async (scene, undo) => {
      for (const server of some(scene.random, await upPrimaries(scene), 1)) {
        undo(() => restoreRights(server));
        await obeys(server, 'ACL', 'SETUSER', 'default', ...rules);
        if (then !== undefined) await obeys(server, ...then);
      }
    },
  });
}

export const PERMISSION_FAULTS: readonly Fault[] = [
  changedRights('channels-forbidden', ['resetchannels']),
  changedRights('keys-forbidden', ['resetkeys']),
  changedRights('keys-read-only', ['resetkeys', '%R~*']),
  changedRights('info-forbidden', ['-info']),
  changedRights('wait-forbidden', ['-wait']),
  changedRights(
    'password-changed',
    ['resetpass', `>${FAULT_PASSWORD}`],
    ['CLIENT', 'KILL', 'TYPE', 'normal'],
  ),
];
