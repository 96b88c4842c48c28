/** A server whose wall clock a test can move, ended with the test. */
import { onTestFinished } from 'vitest';
import type { TestServer } from '../../../src/testing/index.ts';
import { startShiftableServer } from '../../harness/clock-shim.ts';

export { CAN_SHIFT, NEEDS_GCC } from '../../harness/clock-shim.ts';

export interface ShiftableServer {
  readonly server: TestServer;
  /** Sets the server's wall clock this far from the real one. */
  readonly shift: (byMs: number) => Promise<void>;
}

export async function shiftableServer(): Promise<ShiftableServer> {
  const { server, clock, close } = await startShiftableServer();
  onTestFinished(close);
  return { server, shift: (byMs) => clock.shift(byMs) };
}
