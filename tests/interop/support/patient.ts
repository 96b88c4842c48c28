/** How clients of ours are set in these tests, also in children. */
import type { ClientOptions } from '../../../src/index.ts';

/** A machine that runs many tests at once may keep a client waiting. */
export const PATIENT: ClientOptions = { commandTimeoutMs: 10_000 };
