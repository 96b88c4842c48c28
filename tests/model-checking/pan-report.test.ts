/** How the reports of verifiers are read: a search that was not whole never passes for one that was. */
import { describe, expect, it } from 'vitest';
import { readPanReport, readTrail } from '../../chaos/model/pan-report.ts';

const COMPLETE = `
(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	+ (:np_:)
	assertion violations	+ (if within scope of claim)
	non-progress cycles 	+ (fairness disabled)
	invalid end states	- (disabled by -E flag)

State-vector 132 byte, depth reached 602420, errors: 0
  1454956 states, stored (1.64934e+06 visited)
  7654321 states, matched
`;

function broken(text: string): string {
  return `pan:1: ${text}\npan: wrote lock.pml.trail\n\n${COMPLETE.replace('errors: 0', 'errors: 1')}Warning: Search not completed\n`;
}

describe('the report of a verifier', () => {
  it('says how many states there are, and that all were visited', () => {
    expect(readPanReport(COMPLETE)).toEqual({
      states: 1_454_956,
      errors: 0,
      isExhaustive: true,
      broken: undefined,
    });
  });

  it.each([
    ['the depth did not suffice', `error: max search depth too small\n${COMPLETE}`],
    ['the memory did not suffice', `pan: reached -DMEMLIM bound\n${COMPLETE}`],
    ['the system had no memory', `pan: out of memory\n${COMPLETE}`],
    ['the search was interrupted', `${COMPLETE}\nInterrupted\n`],
    ['the search was given up', `${COMPLETE}\nWarning: Search not completed\n`],
    ['states were hashed', COMPLETE.replace('Full statespace', 'Bit statespace')],
  ])('is not exhaustive when %s', (_, text) => {
    expect(readPanReport(text)).toMatchObject({ errors: 0, isExhaustive: false });
  });

  it.each([
    ['exclusion', 'assertion violated (( !(believes[0])&& !(believes[1]))&& !(believes[2])) (at depth 16)'],
    ['ended', 'assertion violated  !(over[(1+(2*c))]) (at depth 10)'],
    ['tokens', 'assertion violated (hasHighest||(behind==0)) (at depth 12)'],
    ['waiters', 'assertion violated (calmFor<=5) (at depth 35)'],
    ['barred', 'assertion violated ((answer==granted)||(answer==confirmed)) (at depth 9)'],
    ['situation', 'assertion violated (4!=4) (at depth 14)'],
    ['time', 'non-progress cycle (at depth 69)'],
  ])('names the promise that is broken: %s', (promise, text) => {
    expect(readPanReport(broken(text))).toMatchObject({ errors: 1, broken: promise, isExhaustive: false });
  });

  it('names no promise for an assertion that it does not know', () => {
    expect(readPanReport(broken('assertion violated (3!=4) (at depth 14)')).broken).toBeUndefined();
  });

  it.each(['', 'Segmentation fault'])('is refused when it is none: "%s"', (text) => {
    expect(() => readPanReport(text)).toThrow('did not report');
  });
});

describe('the run that shows an error', () => {
  it('is the steps without what spin says of itself', () => {
    const replayed = `          process 1: asks for the lock as owner 3
                              clock: a tick
                              clock: a tick
    <<<<<START OF CYCLE>>>>>
                  server: acquire of owner 3: busy
spin: trail ends after 12 steps
#processes: 7
		stage[0] = away`;
    expect(readTrail(replayed)).toEqual([
      'process 1: asks for the lock as owner 3',
      'clock: a tick (2 times)',
      'from here on, the run repeats:',
      'server: acquire of owner 3: busy',
    ]);
  });
});
