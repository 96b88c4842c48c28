import type { RequestContext } from '../requests/requests.ts';
import type { Sections } from '../runtime/owner.ts';

/** What every lock of a client shares. */
export interface LockContext extends RequestContext {
  readonly clientId: string;
  readonly sections: Sections;
}
