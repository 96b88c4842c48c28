/** How long a process stands back for others after a release. */
import { describe, expect, it } from 'vitest';
import { StandBack } from '../../../../src/runtime/wake/stand-back.ts';

describe('StandBack', () => {
  it('does not wait if no other process received the release', () => {
    expect(new StandBack().released(0)).toBe(0);
  });

  it('waits for one turn of each other process, and not longer than 5 ms for each', () => {
    const standBack = new StandBack();
    expect(standBack.released(3)).toBe(5);
    expect(standBack.turnEnded()).toBe(3);
    expect(standBack.turnEnded()).toBe(1.5);
    expect(standBack.turnEnded()).toBe(0);
    expect(standBack.turnEnded()).toBe(0);
    expect(standBack.released(10)).toBe(5);
    expect(standBack.turnEnded()).toBe(5);
  });

  it('is skipped for 1, 3, 7, 15 releases after each useless wait', () => {
    const standBack = new StandBack();
    const leftOut: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      expect(standBack.released(1)).toBe(5);
      standBack.attempting();
      let count = 0;
      while (standBack.released(1) === 0) count += 1;
      leftOut.push(count);
      standBack.turnEnded();
      // Somebody came: it begins anew.
      expect(standBack.released(1)).toBe(5);
      standBack.turnEnded();
      for (let again = 0; again <= round; again += 1) {
        expect(standBack.released(1)).toBe(5);
        standBack.attempting();
        for (let skipped = 0; skipped < Math.min(2 ** (again + 1) - 1, 15); skipped += 1) {
          expect(standBack.released(1)).toBe(0);
        }
      }
      standBack.turnEnded();
    }
    expect(leftOut).toEqual([1, 1, 1, 1, 1]);
  });

  it('is not useless if another turn ended before the attempt', () => {
    const standBack = new StandBack();
    standBack.released(1);
    standBack.turnEnded();
    standBack.attempting();
    expect(standBack.released(1)).toBe(5);
  });
});
