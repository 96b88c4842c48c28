/** The grace and the clocks by which it is told: they may be set, and those of two servers never agree. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { guardCheck } from '../../src/scripts/generated.ts';
import { eventually } from '../harness/wait.ts';
import { ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();
const GRACE_MS = 300;

async function planted(endsInMs: number, server?: string): Promise<string> {
  const guard = bench.name((random) => `holdfast_guard:${random}`);
  const info = String(await bench.command('INFO', 'replication'));
  const own = /master_replid:(\w+)/.exec(info)?.[1] ?? '';
  const [seconds] = (await bench.command('TIME')) as string[];
  await bench.plant('SET', guard, `${server ?? own} ${Number(seconds) * 1_000 + endsInMs}`);
  return guard;
}

function check(guard: string, graceMs = GRACE_MS, trusted = '') {
  return bench.run(guardCheck, { guard }, { graceMs, trusted });
}

describe('a grace that ends far in the future', () => {
  it.each([
    ['since the clock was set back', undefined],
    ['by the clock of a server whose slot this one got', 'ab'.repeat(20)],
  ])('%s, still ends one grace later', async (_, server) => {
    const guard = await planted(3_600_000, server);
    expect(await check(guard)).toMatchObject({ status: 'grace', remainingMs: GRACE_MS });
    await eventually(async () => expect(await check(guard)).toEqual({ status: 'open' }));
  });

  it('is not restarted by every request', async () => {
    const guard = await planted(3_600_000);
    expect(await check(guard, 60_000)).toMatchObject({ status: 'grace', remainingMs: 60_000 });
    await eventually(async () => {
      const reply = await check(guard, 60_000);
      expect(reply.status === 'grace' && reply.remainingMs).toBeLessThan(60_000);
    });
  });
});

describe('a grace that has ended', () => {
  it('has ended forever, though the clock is set back: the record no longer contains a time', async () => {
    const guard = await planted(-1);
    expect(await check(guard)).toEqual({ status: 'open' });
    expect(await bench.command('GET', guard)).toMatch(/^master_replid:[0-9a-f]{40}$/);
  });
});

describe('a grace that came with its slot', () => {
  it('does not end early because the clock of this server is ahead, not even on a trusted server', async () => {
    const guard = await planted(-60_000, 'ab'.repeat(20));
    const info = String(await bench.command('INFO', 'replication'));
    const trusted = /master_replid:(\w+)/.exec(info)?.[1] ?? '';
    expect(await check(guard, 60_000, trusted)).toMatchObject({ status: 'grace', remainingMs: 60_000 });
  });
});

describe('a server whose clock was set back since it started', () => {
  /** What a script makes of a server that tells that it has run for less than nothing. */
  async function startedAt(now: number): Promise<unknown> {
    const source = await readFile(new URL('../../lua/lib/grace.lua', import.meta.url), 'utf8');
    const told = `local redis = { call = function() return 'uptime_in_seconds:-3600' end }`;
    return bench.command('EVAL', `${told}\n${source}\nreturn startedAt(${now})`, 0);
  }

  it('counts as just started', async () => {
    expect(await startedAt(1_700_000_000_000)).toBe(1_700_000_000_000);
  });
});
