/** What every client must do, however it was made. */
import type { Context } from '../support/context.ts';
import { describeBadInput } from './bad-input.ts';
import { describeClose } from './close.ts';
import { describeEvents } from './events.ts';
import { describeInspection, describeNames } from './names-and-inspection.ts';

export function describeClient(context: Context): void {
  describeNames(context);
  describeInspection(context);
  describeBadInput(context);
  describeEvents(context);
  describeClose(context);
}
