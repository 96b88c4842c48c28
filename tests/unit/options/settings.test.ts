/** What a client was told, filled in: options that depend on each other. */
import { describe, expect, it } from 'vitest';
import { checkSettings } from '../../../src/options/settings.ts';
import { LABEL } from '../../harness/names.ts';

describe('settings', () => {
  it('are complete without options', () => {
    expect(checkSettings(undefined)).toEqual({
      watchdogMs: 30_000,
      commandTimeoutMs: 3_000,
      fairWaitMs: 300_000,
      mapName: expect.any(Function),
      closeOnSignals: false,
      shardedPubSub: 'auto',
      replicas: 'auto',
      replicaTimeoutMs: 1_000,
      passOn: { maxMs: 10, maxHolds: 10_000 },
      isGuarded: false,
      graceMs: 30_000,
      label: LABEL,
    });
    expect(checkSettings(undefined).mapName('a:{b}')).toBe('a:{b}');
  });

  it('pass a lock on within the given bounds', () => {
    expect(checkSettings({ passOn: false }).passOn).toBe(false);
    expect(checkSettings({ passOn: true }).passOn).toEqual({ maxMs: 10, maxHolds: 10_000 });
    expect(checkSettings({ passOn: { maxMs: 3 } }).passOn).toEqual({ maxMs: 3, maxHolds: 10_000 });
    expect(checkSettings({ passOn: { maxHolds: 1 } }).passOn).toEqual({ maxMs: 10, maxHolds: 1 });
  });

  it.each(['x', 'billing worker 7', 'Zürich · 中', 'a'.repeat(200)])('take the label %s', (label) => {
    expect(checkSettings({ label }).label).toBe(label);
  });

  it.each(['', 'a'.repeat(201), 'two\nlines', '\u0007', '\ud800', '\u2028', 7, null])(
    'refuse the label %j',
    (label) => {
      expect(() => checkSettings({ label })).toThrow(
        /label must be a string of 1 to 200 printable characters/,
      );
    },
  );

  it.each([
    [500, 250],
    [1, 1],
    [1_999, 1_000],
    [10_000, 1_000],
  ])('with %d ms for a command wait for replicas for %d ms', (commandTimeoutMs, replicaTimeoutMs) => {
    expect(checkSettings({ commandTimeoutMs })).toMatchObject({ replicaTimeoutMs });
  });

  it.each([
    [false, false, 30_000],
    [true, true, 30_000],
    [{ graceMs: 60_000 }, true, 60_000],
  ])('with guard: %o', (guard, isGuarded, graceMs) => {
    expect(checkSettings({ guard })).toMatchObject({ isGuarded, graceMs });
  });

  it.each([
    [{ replicaTimeoutMs: 3_000 }, /replicaTimeoutMs \(3000\) must be shorter than commandTimeoutMs \(3000\)/],
    [{ guard: true, watchdogMs: 30_001 }, /watchdogMs \(30001\) must not be longer than the grace/],
    [
      { guard: { graceMs: 29_999 } },
      /watchdogMs \(30000\) must not be longer than the grace of the guard \(29999\)/,
    ],
  ])('%o contradict each other', (options, message) => {
    expect(() => checkSettings(options)).toThrow(message);
  });
});
