import { describe, expect, it } from 'vitest';
import type { AcquireMessage } from '../../../src/channels.ts';
import { Charts } from '../../../src/dashboard/history/charts.ts';
import { Chronicle, type Event } from '../../../src/dashboard/history/chronicle.ts';

const happened = (key: string | null, text = ''): Event => {
  return { at: 1, what: 'taken', key, who: null, text, source: 'sampling' };
};

describe('the chronicle', () => {
  it('keeps the latest of the timeline, newest first', () => {
    const chronicle = new Chronicle();
    for (let i = 1; i <= 2_500; i += 1) chronicle.note(happened(null, String(i)), true);
    const texts = chronicle.timeline().map(({ text }) => text);
    expect([texts.length, texts[0], texts.at(-1)]).toEqual([1_000, '2500', '1501']);
  });

  it('leaves out of the timeline what is not notable', () => {
    const chronicle = new Chronicle();
    chronicle.note(happened('a'), false);
    expect(chronicle.timeline()).toEqual([]);
    expect(chronicle.ofLock('a')).toHaveLength(1);
  });

  it('keeps a hundred of each lock, and forgets the locks to which nothing happens', () => {
    const chronicle = new Chronicle();
    for (let lock = 0; lock < 600; lock += 1) {
      for (let i = 0; i < 110; i += 1) chronicle.note(happened(`lock:${lock}`), false);
    }
    const kept = Array.from({ length: 600 }, (_, lock) => chronicle.ofLock(`lock:${lock}`).length);
    expect(kept.at(-1)).toBe(100);
    expect(kept[0]).toBe(0);
    const all = kept.reduce((sum, one) => sum + one, 0);
    expect(all).toBe(50_000);
  });

  it('cuts long messages', () => {
    expect(new Chronicle().note(happened(null, 'x'.repeat(100_000)), true).text).toHaveLength(1_000);
  });
});

function call(changes: Partial<AcquireMessage>): AcquireMessage {
  const subject = { clientId: 'c', label: 'l', kind: 'lock', name: 'n', permits: undefined } as const;
  return { ...subject, isMember: false, outcome: 'granted', waitedMs: 1, contended: false, ...changes };
}

describe('the charts', () => {
  const measured = { held: 3, waitedFor: 1, waiting: 1 };

  it('tell nothing of events before the first one', () => {
    const point = new Charts().step(1, measured);
    expect(point).toEqual({
      at: 1,
      ...measured,
      acquired: null,
      contended: null,
      timeouts: null,
      losses: null,
      waitP50: null,
      waitP95: null,
    });
  });

  it('count the calls of a step, and begin anew', () => {
    const charts = new Charts();
    for (let waitedMs = 1; waitedMs <= 100; waitedMs += 1) charts.ended(call({ waitedMs }));
    charts.ended(call({ outcome: 'timeout', contended: true, waitedMs: 500 }));
    charts.lost();
    expect(charts.step(1, measured)).toMatchObject({
      acquired: 101,
      contended: 1,
      timeouts: 1,
      losses: 1,
      waitP50: 51,
      waitP95: 96,
    });
    expect(charts.step(2, measured)).toMatchObject({ acquired: 0, losses: 0, waitP50: null });
  });

  it('keep an hour', () => {
    const charts = new Charts();
    for (let at = 1; at <= 1_000; at += 1) charts.step(at, measured);
    const points = charts.points();
    expect([points.length, points[0]?.at, points.at(-1)?.at]).toEqual([360, 641, 1_000]);
  });

  it('estimate the waits of a busy step from a part of them', () => {
    const charts = new Charts();
    for (let i = 0; i < 100_000; i += 1) charts.ended(call({ waitedMs: i % 100 }));
    const { acquired, waitP50 } = charts.step(1, measured);
    expect(acquired).toBe(100_000);
    expect(waitP50).toBeGreaterThan(35);
    expect(waitP50).toBeLessThan(65);
  });
});
