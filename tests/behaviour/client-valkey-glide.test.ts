import { describeClient } from './client-suites.ts';
import { describeBringYourOwn } from './close.ts';
import { throughGlide } from './context.ts';

describeClient(throughGlide, () => describeBringYourOwn(throughGlide));
