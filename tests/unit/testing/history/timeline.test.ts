/** The drawing of a history: everything is where a reader looks for it, nothing comes from elsewhere. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import { drawTimeline } from '../../../../src/testing/history/timeline.ts';
import { call, died, event, fault, grant, lost, release, stalled, visit } from './support/scribe.ts';

const count = (page: string, pattern: RegExp) => [...page.matchAll(pattern)].length;
const rectangles = (page: string, name: string) =>
  [...page.matchAll(new RegExp(`<rect ([^>]*)class="${name}"`, 'g'))].map(([, attributes = '']) => {
    const number = (key: string) => Number(new RegExp(`\\b${key}="([\\d.]+)"`).exec(attributes)?.[1]);
    return {
      x: number('x'),
      width: number('width'),
      y: number('y'),
      fill: /fill="([^"]+)"/.exec(attributes)?.[1],
    };
  });

const history = [
  ...visit('h1', 100, 300, { proc: 'a', worker: '1' }),
  ...grant('h2', [150, 200], { proc: 'b', worker: '1' }),
  lost('h2', 400, 'expired', { proc: 'b', worker: '1' }),
  ...call('acquire', [250, 320], { proc: 'c', worker: '1' }, 'fail'),
  ...visit('h3', 500, 600, { proc: 'a', worker: '2', key: 'other <&> "key"' }),
  ...fault('link <cut>', [180, 260]),
  stalled('c', 260, 300),
  died('c', 330),
];

describe('a timeline', () => {
  const page = drawTimeline(history, { title: 'Seed <7>' });

  it('is one page that loads nothing', () => {
    expect(page).toMatch(/^<!doctype html>/);
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|src=|href=|@import|<script/,
    );
    expect(page).toContain('<h1>Seed &lt;7&gt;</h1>');
    expect(page).toContain('other &lt;&amp;&gt; &quot;key&quot;');
    expect(page).toContain('link &lt;cut&gt;');
  });

  it('closes every element', () => {
    const open: string[] = [];
    const svg = page.slice(page.indexOf('<svg'), page.indexOf('</svg>') + 6);
    for (const [, slash, name, self] of svg.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
      if (slash === '/') expect(open.pop()).toBe(name);
      else if (self !== '/') open.push(name as string);
    }
    expect(open).toEqual([]);
  });

  it('has a lane for each worker, a bar for each hold and a line for each call', () => {
    for (const lane of ['a / 1', 'a / 2', 'b / 1', 'c / 1']) expect(page).toContain(`>${lane}</text>`);
    expect(rectangles(page, 'hold')).toHaveLength(3);
    expect(count(page, /class="call"/g)).toBe(6);
  });

  it('draws bars to scale, in the colour of their key', () => {
    const [first, second, third] = rectangles(page, 'hold').sort((a, b) => a.x - b.x);
    expect(first?.width).toBeCloseTo(second?.width ?? 0);
    expect((first?.width ?? 0) / (third?.width ?? 1)).toBeCloseTo(2, 1);
    expect(first?.fill).toBe(second?.fill);
    expect(first?.fill).not.toBe(third?.fill);
  });

  it('marks losses, refusals, deaths, stalls and faults', () => {
    expect(page).toMatch(/<title>lost: expired<\/title>◆/);
    expect(page).toMatch(/<title>acquire &quot;k&quot;[^<]*fail<\/title>×/);
    expect(page).toContain('†');
    expect(rectangles(page, 'stall')).toHaveLength(1);
    expect(count(page, /class="fault"/g)).toBe(1);
  });

  it('stripes the time of an overlap, on both bars', () => {
    const striped = rectangles(page, 'overlap');
    expect(striped).toHaveLength(2);
    expect(new Set(striped.map(({ x, width }) => `${x} ${width}`)).size).toBe(1);
    expect(new Set(striped.map(({ y }) => y)).size).toBe(2);
  });
});

describe('a timeline of a violation', () => {
  it('shows the time around the first one, outlines it and says what it is', () => {
    const far = visit('h9', 60_000, 60_100, { proc: 'far' });
    const { violations } = checkHistory([...history, ...far]);
    const page = drawTimeline([...history, ...far], { violations });
    expect(violations[0]?.kind).toBe('overlap');
    expect(page).toContain('<li><b>overlap</b>: h1 of a/1');
    expect(count(page, /class="violation"/g)).toBeGreaterThan(0);
    expect(page).not.toContain('h9');
  });

  it('puts nested holds on separate tracks', () => {
    const mine = { party: 'me' };
    const nested = [
      ...visit('h1', 100, 400, mine),
      ...visit('h2', 200, 300, mine),
      ...visit('h3', 320, 350, mine),
    ];
    const [outer, ...inner] = rectangles(drawTimeline(nested), 'hold').sort((a, b) => a.x - b.x);
    for (const each of inner) expect(each.y).toBeGreaterThan(outer?.y ?? 0);
    expect(inner[0]?.y).toBe(inner[1]?.y);
  });

  it('stays small, and keeps the holds of the violation', () => {
    const many = Array.from({ length: 6_000 }, (_, i) =>
      visit(`h${i}`, 100 + i, 100.5 + i, { proc: `p${i % 200}`, worker: `${i % 4}` }),
    ).flat();
    const hung = [
      event('acquire', 'invoke', 120, { proc: 'p3', worker: '3', call: 1 }),
      ...grant('x', [5_000, 5_001]),
    ];
    const page = drawTimeline([...many, ...hung, ...release('x', [5_002, 5_003])], {
      violations: [
        { kind: 'leak', key: 'k', text: '', fromNs: 100e6, toNs: 6.1e9, holds: ['x'], procs: ['p'] },
      ],
    });
    expect(count(page, /<(rect|line|text)/g)).toBeLessThan(10_000);
    expect(page).toContain('x holds &quot;k&quot;');
    expect(page).toMatch(/no room for \d+ more/);
  });

  it('draws an empty history, too', () => {
    expect(drawTimeline([])).toContain('<svg');
  });
});
