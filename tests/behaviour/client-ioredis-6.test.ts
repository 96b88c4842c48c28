import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { throughIoredis } from './context.ts';
import { describeKeyPrefix } from './names-and-inspection.ts';

describeClient(throughIoredis, () => {
  describeKeyPrefix(throughIoredis);
  describeBringYourOwn(throughIoredis);
});
