/** Takes locks without a lease and keeps them until it is killed; or waits for one that it does not get. */
import { Holdfast, type Target } from '../../../src/index.ts';
import { onOrder, tell } from '../../harness/in-child.ts';
import type { JavaLockKind } from '../support/java-objects.ts';
import { kindOfJava } from '../support/kinds.ts';
import { PATIENT } from '../support/patient.ts';

export interface HoldSettings {
  readonly target: string | Target;
  readonly watchdogMs: number;
  readonly fairWaitMs: number;
  readonly holds: readonly (readonly [kind: JavaLockKind, name: string])[];
  /** The name of a fair lock to wait for. */
  readonly waitsFor?: string;
}

const { target, holds, waitsFor, ...options } = JSON.parse(process.argv[2] as string) as HoldSettings;
const client = await Holdfast.connect(target, { ...PATIENT, ...options });
for (const [kind, name] of holds) await kindOfJava(kind).of(client, name).lock();
if (waitsFor !== undefined) void client.getFairLock(waitsFor).lock();
onOrder(() => {});
tell({ ready: true });
