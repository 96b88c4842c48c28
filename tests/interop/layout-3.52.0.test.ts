/** Readers that a Redisson loses sight of. */
import { describeInterop } from './context.ts';
import { describeForgottenReaders } from './forgotten-readers.ts';

describeInterop('3.52.0', [describeForgottenReaders]);
