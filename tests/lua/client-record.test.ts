/** The scripts by which a client says who it is. */
import { describe, expect, it } from 'vitest';
import { clientRecordRemove, clientRecordWrite } from '../../src/scripts/generated.ts';
import { expectRunning, ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

describe('client-record/write', () => {
  it('keeps the record for a time, and running again for a time from then', async () => {
    const client = bench.name((random) => `holdfast_client:{${random}}`);
    const write = (keepMs: number) => bench.run(clientRecordWrite, { client }, { record: '{"a":1}', keepMs });
    expect(await write(60_000)).toEqual({ status: 'written' });
    expectRunning(await bench.pttl(client), 60_000);
    expect(await write(30_000)).toEqual({ status: 'written' });
    expectRunning(await bench.pttl(client), 30_000);
    expect(await bench.command('GET', client)).toBe('{"a":1}');
  });
});

describe('client-record/remove', () => {
  it('removes the record, and nothing the second time', async () => {
    const client = bench.name((random) => `holdfast_client:{${random}}`);
    await bench.run(clientRecordWrite, { client }, { record: 'x', keepMs: 60_000 });
    expect(await bench.run(clientRecordRemove, { client }, {})).toEqual({ status: 'removed' });
    expect(await bench.exists(client)).toBe(false);
    expect(await bench.run(clientRecordRemove, { client }, {})).toEqual({ status: 'removed' });
  });
});

bench.itCoversEveryWordOf('client-record');
