/** Losses: told too late, told for nothing, given back after it; and what excuses each of them. */
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import {
  type About,
  call,
  died,
  event,
  fault,
  grant,
  kindsOf,
  lost,
  release,
  stalled,
  violationsOf,
  visit,
} from './support/scribe.ts';

const held = (about: About = {}) => grant('h1', [99, 100], { deadlineMs: 1_000, ...about });

describe('a late loss', () => {
  it('is reported after the deadline, by more than a timer may be late', () => {
    expect(kindsOf([held(), lost('h1', 1_000, 'expired')])).toEqual([]);
    expect(kindsOf([held(), lost('h1', 1_049, 'expired')])).toEqual([]);
    expect(violationsOf([held(), lost('h1', 1_051, 'expired')])).toMatchObject([
      {
        kind: 'late-loss',
        holds: ['h1'],
        text:
          'h1 of p/w was told at 952.0 ms that "k" was lost, 51.0 ms after its deadline at 901.0 ms, although its ' +
          'process ran',
      },
    ]);
    expect(kindsOf([held(), lost('h1', 1_051, 'expired')], { slackMs: 60 })).toEqual([]);
  });

  it('counts from the deadline that was read last', () => {
    const renewed = event('held', 'info', 500, { hold: 'h1', deadlineMs: 1_400 });
    const leased = { leaseMs: 900 };
    expect(kindsOf([held(), renewed, lost('h1', 1_400, 'expired', leased)])).toEqual([]);
    expect(kindsOf([held(), renewed, lost('h1', 1_500, 'expired', leased)])).toEqual(['late-loss']);
    const cut = event('held', 'info', 500, { hold: 'h1', deadlineMs: 700 });
    expect(kindsOf([held(), cut, lost('h1', 1_000, 'expired')])).toEqual(['late-loss']);
  });

  it('may be one that is never reported', () => {
    expect(kindsOf([held(), release('h1', [1_200, 1_201], {}, 'fail')])).toEqual(['late-loss']);
    expect(kindsOf([held(), release('h1', [1_020, 1_021], {}, 'fail')])).toEqual([]);
    expect(kindsOf([held(), visit('h2', 2_000, 2_100)])).toEqual(['leak', 'late-loss']);
  });

  it('is excused while the process stood still, and no longer', () => {
    expect(kindsOf([held(), stalled('p', 900, 1_500), lost('h1', 1_501, 'expired')])).toEqual([]);
    expect(kindsOf([held(), stalled('p', 900, 1_400), lost('h1', 1_501, 'expired')])).toEqual(['late-loss']);
    expect(kindsOf([held(), stalled('q', 900, 1_500), lost('h1', 1_501, 'expired')])).toEqual(['late-loss']);
  });

  it('is not expected of a process that died', () => {
    expect(kindsOf([held(), died('p', 1_500)])).toEqual([]);
    expect(kindsOf([held(), lost('h1', 1_500, 'expired'), died('p', 1_501)])).toEqual([]);
    const later = call('acquire', [1_600, 1_601], {}, 'fail');
    expect(kindsOf([held(), lost('h1', 1_500, 'expired'), later, died('p', 1_700)])).toEqual(['late-loss']);
  });

  it('is reported after another party got the lock', () => {
    const told = [held({ proc: 'a' }), lost('h1', 400, 'notOwner', { proc: 'a' })];
    const flush = fault('flush', [200, 201], { removesHolds: true });
    const next = visit('h2', 300, 350, { proc: 'b' });
    expect(kindsOf([...told, next])).toEqual(['early-loss', 'overlap', 'late-loss']);
    // Where a fault took it from the server, nothing could tell the holder sooner.
    expect(kindsOf([...told, flush, next])).toEqual(['overlap']);
    expect(kindsOf([...told, stalled('a', 250, 350), next])).toEqual(['early-loss', 'overlap']);
    expect(kindsOf([...told, flush, visit('h2', 401, 500, { proc: 'b' })])).toEqual([]);
  });

  it('counts for the worst lateness of reported losses', () => {
    const { figures } = checkHistory([
      ...held(),
      lost('h1', 1_020, 'expired'),
      ...grant('h2', [1_098, 1_099], { deadlineMs: 2_000 }),
      stalled('p', 1_900, 2_500),
      lost('h2', 2_510, 'unreachable'),
    ]);
    expect(figures.worstLossLatenessMs).toBeCloseTo(20);
    expect(figures.losses).toEqual({ expired: 1, unreachable: 1 });
  });
});

describe('a false loss', () => {
  it.each(['notOwner', 'forced', 'failover'])('is %s while nothing had removed the hold', (reason) => {
    expect(violationsOf([held(), lost('h1', 500, reason)])).toMatchObject([
      { kind: 'early-loss', holds: ['h1'] },
    ]);
    expect(kindsOf([held(), lost('h1', 1_001, reason)])).toEqual([]);
    expect(
      kindsOf([held(), fault('flush', [300, 301], { removesHolds: true }), lost('h1', 500, reason)]),
    ).toEqual([]);
    expect(kindsOf([held(), fault('slow', [300, 301]), lost('h1', 500, reason)])).toEqual(['early-loss']);
    expect(kindsOf([held(), call('force', [300, 310], { proc: 'admin' }), lost('h1', 500, reason)])).toEqual(
      [],
    );
  });

  it('is one whose forced release or fault was too early or too late', () => {
    const loss = lost('h1', 500, 'notOwner');
    expect(kindsOf([held(), call('force', [50, 60], { proc: 'admin' }), loss])).toEqual(['early-loss']);
    expect(kindsOf([held(), call('force', [510, 520], { proc: 'admin' }), loss])).toEqual(['early-loss']);
    const flush = (span: readonly [number, number]) => fault('flush', span, { removesHolds: true });
    expect(kindsOf([held(), flush([510, 520]), loss])).toEqual(['early-loss']);
    expect(kindsOf([held(), flush([10, 20]), loss], { settleMs: 50 })).toEqual(['early-loss']);
    expect(kindsOf([held(), flush([10, 20]), loss], { settleMs: 100 })).toEqual([]);
    expect(kindsOf([held(), fault('flush', [300, 301], { removesHolds: true, procs: ['q'] }), loss])).toEqual(
      ['early-loss'],
    );
  });

  it.each(['expired', 'unreachable'])('is %s clearly before the deadline', (reason) => {
    expect(kindsOf([held(), lost('h1', 880, reason)])).toEqual(['early-loss']);
    expect(kindsOf([held(), lost('h1', 920, reason)])).toEqual([]);
    expect(
      kindsOf([held(), fault('restart', [300, 301], { removesHolds: true }), lost('h1', 500, reason)]),
    ).toEqual([]);
  });

  it('leaves more room before the end of a long lease', () => {
    const long = grant('h1', [99, 100], { deadlineMs: 10_100 });
    expect(kindsOf([long, lost('h1', 9_500, 'expired')])).toEqual(['early-loss']);
    expect(kindsOf([long, lost('h1', 9_600, 'expired')])).toEqual([]);
  });

  it.each(['closed', 'maxHold', 'suspended'])('is not %s', (reason) => {
    expect(kindsOf([held(), lost('h1', 500, reason)])).toEqual([]);
  });

  it('is not one during the release of the hold', () => {
    expect(kindsOf([held(), release('h1', [400, 600]), lost('h1', 500, 'notOwner')])).toEqual([]);
  });
});

describe('a release after the loss', () => {
  it('must answer false', () => {
    const loss = [held(), lost('h1', 1_000, 'expired')];
    expect(kindsOf([...loss, release('h1', [1_100, 1_101], {}, 'fail')])).toEqual([]);
    expect(kindsOf([...loss, release('h1', [1_100, 1_101], {}, 'info')])).toEqual([]);
    expect(violationsOf([...loss, release('h1', [1_100, 1_101])])).toMatchObject([
      { kind: 'released-after-loss', holds: ['h1'] },
    ]);
  });
});
