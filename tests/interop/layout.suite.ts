/** Beside a Redisson that keeps permits and rates in another layout, and beside one that loses sight of readers. */
import { describeForgottenReaders } from './parts/forgotten-readers.ts';
import { describeOldPermits, describeOldRates } from './parts/old-layout.ts';
import { describeInterop } from './support/context.ts';

describeInterop({
  '3.52.0': [describeForgottenReaders],
  '3.16.8': [describeOldPermits, describeOldRates],
});
