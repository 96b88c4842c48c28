/** Takes a permit without a lease, of a semaphore of either kind, and keeps it until it is killed. */
import { Holdfast, type Target } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import { PATIENT } from '../support/patient.ts';

export interface PermitSettings {
  readonly target: string | Target;
  readonly kind: 'semaphore' | 'permitExpirable';
  readonly name: string;
  readonly watchdogMs?: number;
}

const { target, kind, name, ...options } = JSON.parse(process.argv[2] as string) as PermitSettings;
const client = await Holdfast.connect(target, { ...PATIENT, ...options });
if (kind === 'semaphore') await client.getSemaphore(name).acquire();
else await client.getPermitExpirableSemaphore(name).acquire();
onOrder(() => {});
tell({ ready: true });
