/** Figures, times and names as the dashboard's page writes them. */
import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../../src/dashboard-ui/view/figures.ts';
import {
  formatBytes,
  formatDuration,
  formatInterval,
  formatLatency,
  formatShare,
} from '../../../src/dashboard-ui/view/format.ts';
import { shortOwner } from '../../../src/dashboard-ui/view/owner.ts';
import { visibleParts, visibleText } from '../../../src/dashboard-ui/view/visible-text.ts';
import { row } from './support/rows.ts';

describe('figures', () => {
  it.each([
    [-5, '0 s'],
    [999, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_000, '59 min 59 s'],
    [7_500_000, '2 h 5 min'],
    [356_400_000, '4 d 3 h'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes short times with their fraction', () => {
    expect([0.42, 85.4, 1_250, 75_000].map(formatLatency)).toEqual([
      '0.4 ms',
      '85 ms',
      '1.25 s',
      '1 min 15 s',
    ]);
    expect([250, 10_000].map(formatInterval)).toEqual(['250 ms', '10 s']);
  });

  it('never writes a small share as none', () => {
    expect([0, 0.0004, 0.042, 1].map(formatShare)).toEqual(['0 %', '< 0.1 %', '4.2 %', '100 %']);
  });

  it('writes bytes', () => {
    expect([0, 1_023, 1_536, 5 * 1_024 ** 3].map(formatBytes)).toEqual([
      '0 B',
      '1,023 B',
      '1.5 KiB',
      '5 GiB',
    ]);
  });

  it('says what a counter has in place of a holder', () => {
    expect(figuresOf(row('a', { kind: 'latch', count: 3 }))).toBe('3 to go');
    expect(
      figuresOf(row('a', { kind: 'rateLimiter', rate: { permits: 100, intervalMs: 500 }, free: 7 })),
    ).toBe('100 per 500 ms, 7 free');
    expect(figuresOf(row('a', { kind: 'permitSemaphore', free: 1, held: 2 }))).toBe('1 free, 2 taken');
    expect(figuresOf(row('a', { kind: 'fenced', token: 12 }))).toBe('token 12');
  });
});

describe('names', () => {
  it('stay as they are where they can be read', () => {
    expect(visibleText('<img src=x onerror=alert(1)> é 漢 🔒')).toBe('<img src=x onerror=alert(1)> é 漢 🔒');
  });

  it('show what is invisible, or changes the direction, by its code', () => {
    expect(visibleParts('abc\u202egnp.exe')).toEqual([
      { text: 'abc', isCode: false },
      { text: 'U+202E', isCode: true },
      { text: 'gnp.exe', isCode: false },
    ]);
    expect(visibleText('a\u0000\n\u200b\u00a0b\ud800')).toBe('a‹U+0000›‹U+000A›‹U+200B›‹U+00A0›b‹U+D800›');
    expect(visibleText('')).toBe('‹empty name›');
  });

  it('shorten the id of a client, and nothing else', () => {
    expect(shortOwner('f0e1d2c3-0000-4000-8000-000000000000:12')).toBe('f0e1d2c3…:12');
    expect(shortOwner('some text')).toBe('some text');
  });
});
