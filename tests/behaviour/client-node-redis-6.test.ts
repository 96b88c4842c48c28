import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { throughNodeRedis } from './context.ts';
import { describeKeyPrefix } from './names-and-inspection.ts';

describeClient(throughNodeRedis, () => {
  describeKeyPrefix(throughNodeRedis);
  describeBringYourOwn(throughNodeRedis);
});
