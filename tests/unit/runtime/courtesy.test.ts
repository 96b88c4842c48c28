/** How long a process stands back for others after a release. */
import { describe, expect, it } from 'vitest';
import { Courtesy } from '../../../src/runtime/courtesy.ts';

describe('Courtesy', () => {
  it('does not wait if no other process received the release', () => {
    expect(new Courtesy().released(0)).toBe(0);
  });

  it('waits for one turn of each other process, and not longer than 5 ms for each', () => {
    const courtesy = new Courtesy();
    expect(courtesy.released(3)).toBe(5);
    expect(courtesy.turnEnded()).toBe(3);
    expect(courtesy.turnEnded()).toBe(1.5);
    expect(courtesy.turnEnded()).toBe(0);
    expect(courtesy.turnEnded()).toBe(0);
    expect(courtesy.released(10)).toBe(5);
    expect(courtesy.turnEnded()).toBe(5);
  });

  it('is skipped for 1, 3, 7, 15 releases after each useless wait', () => {
    const courtesy = new Courtesy();
    const leftOut: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      expect(courtesy.released(1)).toBe(5);
      courtesy.attempting();
      let count = 0;
      while (courtesy.released(1) === 0) count += 1;
      leftOut.push(count);
      courtesy.turnEnded();
      // Somebody came: it begins anew.
      expect(courtesy.released(1)).toBe(5);
      courtesy.turnEnded();
      for (let again = 0; again <= round; again += 1) {
        expect(courtesy.released(1)).toBe(5);
        courtesy.attempting();
        for (let skipped = 0; skipped < Math.min(2 ** (again + 1) - 1, 15); skipped += 1) {
          expect(courtesy.released(1)).toBe(0);
        }
      }
      courtesy.turnEnded();
    }
    expect(leftOut).toEqual([1, 1, 1, 1, 1]);
  });

  it('is not useless if another turn ended before the attempt', () => {
    const courtesy = new Courtesy();
    courtesy.released(1);
    courtesy.turnEnded();
    courtesy.attempting();
    expect(courtesy.released(1)).toBe(5);
  });
});
