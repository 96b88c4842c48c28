/** A server that was found to be the wrong one is sent no script, on whatever connection. */
import { expect, it } from 'vitest';
import { withCallTimeout } from '../../../src/drivers/call-timeout.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { evalShaOn } from '../../harness/script-calls.ts';
import { CarryingDriver } from '../support/carrying-driver.ts';

it('neither as the library sends it, nor on a dedicated connection', async () => {
  const inner = new CarryingDriver();
  let refusal: Error | undefined;
  const watch = { dueAt: 0, refusal: () => refusal, onRecovered() {} };
  const driver = withCallTimeout(inner, new ManualClock(), 1_000, watch);
  const connection = await driver.openConnection('A', { onMessage() {}, onDown() {} });
  inner.reply = async () => ['held'];

  expect(await evalShaOn(driver, 'digest', ['a'], [])).toEqual(['held']);
  const sent = connection.send(['EVALSHA', 'digest', '1', 'a']);
  inner.connection.answer(0).resolve(['held']);
  expect(await sent).toEqual(['held']);

  refusal = new Error('part of a Cluster');
  await expect(evalShaOn(driver, 'digest', ['a'], [])).rejects.toBe(refusal);
  await expect(connection.send(['EVALSHA', 'digest', '1', 'a'])).rejects.toBe(refusal);
  expect(inner.run).toHaveLength(1);
  expect(inner.connection.sent).toHaveLength(1);
});
