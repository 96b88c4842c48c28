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
  it.each(['expired', 'unreachable'])('%s: is found if nothing had happened', (what) => {
    expect(kindsOf([ranOut(what)], BOUNDS)).toEqual(['early-loss']);
  });

  it('is found if a fault had ended long enough before', () => {
    expect(kindsOf([ranOut('unreachable'), fault('reset', [600, 610])], BOUNDS)).toEqual(['early-loss']);
  });

  it('is not found if a fault and its consequences lasted for most of the time', () => {
    expect(kindsOf([ranOut('unreachable'), fault('cut', [350, 800])], BOUNDS)).toEqual([]);
    expect(kindsOf([ranOut('unreachable'), fault('cut', [350, 360])], { settleMs: 500 })).toEqual([]);
  });

  it('is found if a fault struck other processes only', () => {
    const elsewhere = fault('paused', [350, 1_100], { procs: ['q'] });
    expect(kindsOf([ranOut('expired'), elsewhere], BOUNDS)).toEqual(['early-loss']);
  });

  it('is not found if its process stood still for most of the time', () => {
    expect(kindsOf([ranOut('expired'), stalled('p', 400, 1_100)], BOUNDS)).toEqual([]);
  });

  it('is found if its process stood still for a moment', () => {
    expect(kindsOf([ranOut('expired'), stalled('p', 500, 600)], BOUNDS)).toEqual(['early-loss']);
  });
});

describe('a hold that ends as it should', () => {
  it('has a requested lease', () => {
    expect(kindsOf([ranOut('expired', { leaseMs: 900 })], BOUNDS)).toEqual([]);
  });

  it('was never renewed', () => {
    expect(kindsOf([grant('h', [-1, 0], { deadlineMs: 900 }), lost('h', 900, 'expired')], BOUNDS)).toEqual(
      [],
    );
  });

  it('has a shortened lease', () => {
    const cut = event('held', 'info', 300, { hold: 'h', deadlineMs: 600 });
    const held = grant('h', [-1, 0], { deadlineMs: 900 });
    expect(kindsOf([held, cut, lost('h', 600, 'expired')], BOUNDS)).toEqual([]);
  });

  it('was released before', () => {
    const givenBack = release('h', [1_190, 1_201], {}, 'fail');
    expect(kindsOf([ranOut('expired'), givenBack], BOUNDS)).toEqual([]);
  });

  it('may end with its client', () => {
    expect(kindsOf([ranOut('closed')], BOUNDS)).toEqual([]);
  });
});
