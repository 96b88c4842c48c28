/** A hold that the library keeps alive does not run out while nothing keeps the library from it. */
import { describe, expect, it } from 'vitest';
import { event, fault, grant, kindsOf, lost, release, stalled } from './support/scribe.ts';

const BOUNDS = { settleMs: 100 };

/** Granted at 0, renewed at 300 until 1,200, and lost then. */
function ranOut(what: string, about: { leaseMs?: number } = {}) {
  return [
    ...grant('h', [-1, 0], { deadlineMs: 900, ...about }),
    event('held', 'info', 300, { hold: 'h', deadlineMs: 1_200, ...about }),
    lost('h', 1_200, what, about),
  ];
}

describe('a hold that was renewed, and then ran out', () => {
  it.each(['expired', 'unreachable'])('%s: is found where nothing had happened', (what) => {
    expect(kindsOf([ranOut(what)], BOUNDS)).toEqual(['early-loss']);
  });

  it('is found where a fault was over for long enough', () => {
    expect(kindsOf([ranOut('unreachable'), fault('reset', [600, 610])], BOUNDS)).toEqual(['early-loss']);
  });

  it('is not found where a fault, and what it leaves behind, lasted for most of the time', () => {
    expect(kindsOf([ranOut('unreachable'), fault('cut', [350, 800])], BOUNDS)).toEqual([]);
    expect(kindsOf([ranOut('unreachable'), fault('cut', [350, 360])], { settleMs: 500 })).toEqual([]);
  });

  it('is found where a fault struck other processes only', () => {
    const elsewhere = fault('paused', [350, 1_100], { procs: ['q'] });
    expect(kindsOf([ranOut('expired'), elsewhere], BOUNDS)).toEqual(['early-loss']);
  });

  it('is not found where its process stood still for most of the time', () => {
    expect(kindsOf([ranOut('expired'), stalled('p', 400, 1_100)], BOUNDS)).toEqual([]);
  });

  it('is found where its process stood still for a moment', () => {
    expect(kindsOf([ranOut('expired'), stalled('p', 500, 600)], BOUNDS)).toEqual(['early-loss']);
  });
});

describe('what runs out as it should', () => {
  it('is a lease that was asked for', () => {
    expect(kindsOf([ranOut('expired', { leaseMs: 900 })], BOUNDS)).toEqual([]);
  });

  it('is a hold that was never renewed', () => {
    expect(kindsOf([grant('h', [-1, 0], { deadlineMs: 900 }), lost('h', 900, 'expired')], BOUNDS)).toEqual(
      [],
    );
  });

  it('is a hold whose time was cut', () => {
    const cut = event('held', 'info', 300, { hold: 'h', deadlineMs: 600 });
    const held = grant('h', [-1, 0], { deadlineMs: 900 });
    expect(kindsOf([held, cut, lost('h', 600, 'expired')], BOUNDS)).toEqual([]);
  });

  it('is a hold that was given back before', () => {
    const givenBack = release('h', [1_190, 1_201], {}, 'fail');
    expect(kindsOf([ranOut('expired'), givenBack], BOUNDS)).toEqual([]);
  });

  it('is no hold that ends with its client', () => {
    expect(kindsOf([ranOut('closed')], BOUNDS)).toEqual([]);
  });
});
