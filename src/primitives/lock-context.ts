import type { OwnerNumbers, Sections } from '../runtime/owner.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** What every lock of a client shares. */
export interface LockContext {
  readonly clientId: string;
  readonly runtime: Runtime;
  readonly numbers: OwnerNumbers;
  readonly sections: Sections;
}
