/** The script that lets remembered answers go. */
import { describe, expect, it } from 'vitest';
import { answerShorten } from '../../src/scripts/generated.ts';
import { ScriptBench } from './support/script-bench.ts';

const bench = new ScriptBench();

describe('answer/shorten', () => {
  it('shortens the time of every existing answer, and creates none', async () => {
    const [one, two, missing] = [bench.name(), bench.name(), bench.name()];
    await bench.plant('SET', one, 'released 1', 'PX', 3_600_000);
    await bench.plant('SET', two, 'taken', 'PX', 3_600_000);
    const reply = await bench.run(answerShorten, { answers: [one, missing, two] }, { rememberMs: 5_000 });
    expect(reply).toEqual({ status: 'shortened' });
    for (const key of [one, two]) {
      expect(await bench.pttl(key)).toBeLessThanOrEqual(5_000);
      expect(await bench.pttl(key)).toBeGreaterThan(0);
    }
    expect(await bench.command('GET', one)).toBe('released 1');
    expect(await bench.exists(missing)).toBe(false);
  });

  it('refuses a time that would delete answers', async () => {
    const key = bench.name();
    await bench.plant('SET', key, 'taken', 'PX', 60_000);
    await expect(bench.run(answerShorten, { answers: [key] }, { rememberMs: 0 })).rejects.toThrow(
      'of at least 1',
    );
    expect(await bench.command('GET', key)).toBe('taken');
  });
});

bench.itCoversEveryWordOf('answer');
