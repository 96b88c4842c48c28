/** When a client says who it is, and when it stops. */
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { ScriptArgument, ScriptReply } from '../../../src/drivers/driver.ts';
import { type DatedHold, OwnRecord } from '../../../src/inspect/own-record.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { Reports } from '../support/bench.ts';

const ID = '5b1d7c0a-2a3b-4c5d-8e9f-001122334455';

function setUp(
  answer: (command: readonly ScriptArgument[]) => Promise<ScriptReply>,
  watchdogMs = 30_000,
  held: readonly DatedHold[] = [],
) {
  const clock = new ManualClock();
  const reports = new Reports();
  const sent: (readonly ScriptArgument[])[] = [];
  const driver = {
    script: (command: ScriptArgument[]) => {
      sent.push([...command]);
      return answer(command);
    },
  };
  const settings = {
    id: ID,
    label: 'billing',
    driver,
    clock,
    watchdogMs,
    report: reports.report,
    holds: () => held,
  };
  return { clock, reports, sent, own: new OwnRecord(settings) };
}

const written = async () => ['written'];

describe('the record of a client', () => {
  it('says since when the client has its oldest holds', async () => {
    const old = Date.now() - 60_000;
    const holds = Array.from({ length: 150 }, (_, i) => [`k${i}`, `${ID}:${i}`, old] as const);
    const young = ['young', `${ID}:200`, Date.now() + 60_000] as const;
    const { sent, own } = setUp(written, 30_000, [
      ['x'.repeat(201), `${ID}:201`, old],
      ...holds.slice(0, 99),
      young,
    ]);
    own.keep();
    const { held } = JSON.parse(String(sent[0]?.[4]));
    expect(held).toEqual(holds.slice(0, 99));
    const many = setUp(written, 30_000, holds);
    many.own.keep();
    expect(JSON.parse(String(many.sent[0]?.[4])).held).toHaveLength(100);
  });

  it('is written at once, then every third of the lease, for three times that', async () => {
    const { clock, sent, own } = setUp(written);
    own.keep();
    own.keep();
    expect(sent).toHaveLength(1);
    const [, , , key, record, keepMs] = sent[0] as string[];
    expect([key, keepMs]).toEqual([`holdfast_client:{${ID}}`, '30000']);
    const { since, ...rest } = JSON.parse(record ?? '');
    expect(rest).toEqual({ label: 'billing', host: hostname(), pid: process.pid });
    expect(new Date(since).getTime()).toBe(own.record.since.getTime());
    await clock.advance(9_999);
    own.keep();
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    own.keep();
    expect(sent).toHaveLength(2);
  });

  it('is written no more than once a second, however short the lease is', async () => {
    const { clock, sent, own } = setUp(written, 100);
    for (let i = 0; i < 100; i += 1) {
      own.keep();
      await clock.advance(30);
    }
    expect(sent).toHaveLength(3);
    expect(sent[0]?.[5]).toBe('3000');
  });

  it('is tried again after a failure, of which nothing is said', async () => {
    const { clock, sent, own, reports } = setUp(async () => {
      throw new Error('Connection is closed.');
    });
    own.keep();
    await clock.advance(10_000);
    own.keep();
    await clock.advance(0);
    expect(sent).toHaveLength(2);
    expect(reports.all).toEqual([]);
  });

  it('is given up where it is forbidden, with one warning', async () => {
    const { clock, sent, own, reports } = setUp(async () => {
      throw Object.assign(new Error('NOPERM No permissions to access a key'), { name: 'ReplyError' });
    });
    own.keep();
    await clock.advance(60_000);
    own.keep();
    await own.forget();
    expect(sent).toHaveLength(1);
    expect(reports.of('warning')).toMatchObject([
      { code: 'HOLDFAST_NO_LABEL', message: expect.stringContaining('holdfast_client') },
    ]);
    expect(reports.standing).toEqual([]);
  });

  it('is removed at the end, if it was written, and never written again', async () => {
    const idle = setUp(written);
    await idle.own.forget();
    expect(idle.sent).toEqual([]);
    const { sent, own } = setUp(async () => (sent.length === 1 ? ['written'] : ['removed']));
    own.keep();
    await own.forget();
    await own.forget();
    own.keep();
    expect(sent.map(([, , , key]) => key)).toEqual([`holdfast_client:{${ID}}`, `holdfast_client:{${ID}}`]);
  });
});
