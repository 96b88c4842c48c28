import type { RequestContext } from '../requests/requests.ts';
import type { Sections } from '../runtime/owner.ts';

/** The state that all locks of a client share. */
export interface LockContext extends RequestContext {
  readonly clientId: string;
  readonly sections: Sections;
}
