import type { RequestContext } from '../requests/requests.ts';
import type { Wire } from '../requests/wire.ts';
import type { SharedLooks } from './shared-look.ts';

/** What all synchronizers of a client share. */
export interface SynchronizerContext extends RequestContext {
  readonly wire: Wire;
  readonly sharedLooks: SharedLooks;
}
