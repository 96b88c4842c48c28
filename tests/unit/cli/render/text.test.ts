import { describe, expect, it } from 'vitest';
import { columns, cut } from '../../../../src/cli/render/columns.ts';
import { printable } from '../../../../src/cli/render/printable.ts';
import { lasting, moment } from '../../../../src/cli/render/time.ts';

describe('text on a terminal', () => {
  it('has no control, format or separator characters of others', () => {
    expect(printable('a\x1b[2J\nb\u202e\u2028ü漢')).toBe('a\\x1b[2J\\x0ab\\u{202e}\\u{2028}ü漢');
  });

  it('is aligned in columns', () => {
    expect(
      columns(
        ['A', 'BB'],
        [
          ['long', 'x'],
          ['', 'y'],
        ],
      ),
    ).toEqual(['A     BB', 'long  x', '      y']);
    expect(cut('abcdef', 4)).toBe('abc…');
    expect(cut('abcd', 4)).toBe('abcd');
  });

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [27_340, '27.3 s'],
    [59_960, '1 m'],
    [250_000, '4 m 10 s'],
    [7_500_000, '2 h 5 m'],
    [90_000_000, '1 d 1 h'],
    [Number.POSITIVE_INFINITY, 'no expiry'],
  ])('shows %d ms as %s', (ms, text) => {
    expect(lasting(ms)).toBe(text);
  });

  it('shows the day of a moment that is not today', () => {
    const at = new Date(2026, 4, 3, 14, 3, 7);
    expect(moment(at, new Date(2026, 4, 3, 20))).toBe('14:03:07');
    expect(moment(at, new Date(2026, 4, 4, 1))).toBe('2026-05-03 14:03:07');
  });
});
