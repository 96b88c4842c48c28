/** The client itself, made of a user's own. */
import { describeClient } from './parts/client.ts';
import { describeBringYourOwn } from './parts/close.ts';
import { describeKeyPrefix } from './parts/names-and-inspection.ts';
import { describeThrough } from './support/context.ts';

describeThrough('the client', (context) => {
  describeClient(context);
  if (context.hasKeyPrefix) describeKeyPrefix(context);
  describeBringYourOwn(context);
});
