/** The command line of the storms. */
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../chaos/options.ts';

describe('the options of a run', () => {
  it('have defaults, and a seed that differs from run to run', () => {
    const { seed, ...others } = parseOptions([]);
    expect(seed).toMatch(/^\d+$/);
    expect(others).toEqual({
      quick: false,
      soakMs: 0,
      out: '.cache/chaos',
      processes: 4,
      workers: 4,
      list: false,
      keep: false,
    });
  });

  it('read times with their units', () => {
    expect(parseOptions(['--soak', '90s']).soakMs).toBe(90_000);
    expect(parseOptions(['--soak', '30m']).soakMs).toBe(1_800_000);
    expect(parseOptions(['--soak', '8h']).soakMs).toBe(28_800_000);
  });

  it('take a seed, a cell and a server', () => {
    const options = parseOptions([
      '--seed',
      '7',
      '--cell',
      'one',
      '--url',
      'redis://localhost',
      '--touch',
      'x',
    ]);
    expect(options).toMatchObject({ seed: '7', cell: 'one', url: 'redis://localhost', touch: 'x' });
  });
});
