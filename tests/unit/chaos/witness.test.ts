/** The witness: it counts the updates that writers lost, and refuses those whose tokens are old. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WitnessClient } from '../../../chaos/witness/client.ts';
import { Witness } from '../../../chaos/witness/service.ts';

async function start() {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-witness-'));
  const witness = await Witness.listen(join(dir, 'socket'));
  const client = await WitnessClient.connect(join(dir, 'socket'));
  onTestFinished(async () => {
    client.close();
    await witness.close();
    rmSync(dir, { recursive: true });
  });
  return { witness, client };
}

describe('the witness', () => {
  it('counts an update that another writer has overwritten', async () => {
    const { witness, client } = await start();
    const [first, second] = [
      await client.ask({ ask: 'read', counter: 'plain', key: 'k' }),
      await client.ask({ ask: 'read', counter: 'plain', key: 'k' }),
    ];
    expect([first, second]).toEqual([{ value: 0 }, { value: 0 }]);
    for (const _ of [1, 2]) await client.ask({ ask: 'write', counter: 'plain', key: 'k', value: 1 });
    expect(witness.figures('plain')).toEqual({ written: 2, refused: 0, lost: 1 });
  });

  it.each(['memory', 'sql'] as const)(
    '%s: refuses the older token once the newer has read',
    async (counter) => {
      const { witness, client } = await start();
      const [older, newer] = [
        { counter, key: 'k', token: 1 },
        { counter, key: 'k', token: 2 },
      ] as const;
      expect(await client.ask({ ask: 'read', ...older })).toEqual({ value: 0 });
      expect(await client.ask({ ask: 'read', ...newer })).toEqual({ value: 0 });
      expect(await client.ask({ ask: 'write', value: 1, ...older })).toEqual({ refused: true });
      expect(await client.ask({ ask: 'read', ...older })).toEqual({ refused: true });
      expect(await client.ask({ ask: 'write', value: 1, ...newer })).toEqual({ value: 1 });
      expect(witness.figures(counter)).toEqual({ written: 1, refused: 2, lost: 0 });
    },
  );

  it('adds up the keys of a counter, and keeps counters apart', async () => {
    const { witness, client } = await start();
    for (const key of ['a', 'b']) {
      await client.ask({ ask: 'write', counter: 'plain', key, value: 1 });
      await client.ask({ ask: 'write', counter: 'memory', key, value: 1, token: 1 });
    }
    expect(witness.figures('plain')).toEqual({ written: 2, refused: 0, lost: 0 });
    expect(witness.figures('memory')).toEqual({ written: 2, refused: 0, lost: 0 });
    expect(witness.figures('sql')).toEqual({ written: 0, refused: 0, lost: 0 });
  });
});
