/** Whether replicas answer WAIT. */
import { expect } from 'vitest';
import type { TestServer } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { eventually } from '../../harness/wait.ts';

/**
 * Resolves when so many replicas acknowledge what the primary writes. A replica that has just synchronised is
 * sent nothing before its first word, which may come a second later.
 */
export async function whenAcknowledging(primary: TestServer, replicas: number): Promise<void> {
  await eventually(async () => {
    await primary.command('SET', randomName('acknowledged'), '', 'PX', 10);
    expect(await primary.command('WAIT', replicas, 500)).toBe(replicas);
  });
}
