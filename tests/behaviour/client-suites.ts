/** Every suite of the client itself, for one way to get one. */
import { describe } from 'vitest';
import { describeBadInput } from './bad-input.ts';
import { describeClose } from './close.ts';
import { type Context, forbidUnhandledRejections } from './context.ts';
import { describeEvents } from './events.ts';
import { describeInspection, describeNames } from './names-and-inspection.ts';

export function describeClient(context: Context, more: () => void = () => {}): void {
  describe(`the client through ${context.title}`, () => {
    forbidUnhandledRejections();
    describeNames(context);
    describeInspection(context);
    describeBadInput(context);
    describeEvents(context);
    describeClose(context);
    more();
  });
}
