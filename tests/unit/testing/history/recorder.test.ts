/** The recorder: every call has an invocation and an outcome, and what befalls a hold is written down. */
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkHistory } from '../../../../src/testing/history/check.ts';
import type { HistoryEvent } from '../../../../src/testing/history/event.ts';
import { nowNs, Recorder, readHistory } from '../../../../src/testing/history/recorder.ts';

/** Where a recorder writes to, and from which a test can wait for what it expects. */
class Journal {
  readonly events: HistoryEvent[] = [];
  readonly #waiting = new Set<() => void>();

  recorder(proc = 'p'): Recorder {
    const recorder = new Recorder(proc, (event) => {
      this.events.push(event);
      for (const look of this.#waiting) look();
    });
    onTestFinished(() => recorder.close());
    return recorder;
  }

  next(op: HistoryEvent['op']): Promise<HistoryEvent> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.events.find((event) => event.op === op);
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}

class FakeHold {
  readonly controller = new AbortController();
  readonly owner = 'client:1';
  token: number | undefined;
  remainingMs = 1_000;

  get signal(): AbortSignal {
    return this.controller.signal;
  }
}

const REQUEST = { worker: 'w', key: 'k', kind: 'lock' } as const;

/** Lets nothing else run. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('a recorded acquisition', () => {
  it('is recorded at the call, at the grant, and at the release', async () => {
    const journal = new Journal();
    const recorder = journal.recorder();
    let seen = 0;
    const recorded = await recorder.acquire({ ...REQUEST, party: 'me', leaseMs: 500 }, async () => {
      seen = journal.events.length;
      return Object.assign(new FakeHold(), { token: 7 });
    });
    expect(seen).toBe(1);
    const [invoke, ok] = journal.events;
    expect(invoke).toMatchObject({ proc: 'p', ...REQUEST, op: 'acquire', type: 'invoke', leaseMs: 500 });
    expect(ok).toMatchObject({ op: 'acquire', type: 'ok', call: invoke?.call, hold: 'p/1', party: 'me' });
    expect(ok).toMatchObject({ owner: 'client:1', token: 7 });
    expect(ok?.deadlineNs).toBeLessThanOrEqual(nowNs() + 1_000e6);
    expect(ok?.deadlineNs).toBeGreaterThan((ok?.atNs ?? 0) + 900e6);

    expect(await recorded?.release(async () => true)).toBe(true);
    const [, , leave, left] = journal.events;
    expect(leave).toMatchObject({ op: 'release', type: 'invoke', hold: 'p/1', owner: 'client:1' });
    expect(left).toMatchObject({ op: 'release', type: 'ok', hold: 'p/1', call: leave?.call });
    expect(leave?.call).not.toBe(invoke?.call);
    expect(checkHistory(journal.events).violations).toEqual([]);
  });

  it('that ends without the lock is a failure', async () => {
    const journal = new Journal();
    expect(await journal.recorder().acquire(REQUEST, async () => null)).toBeNull();
    expect(journal.events.map(({ type }) => type)).toEqual(['invoke', 'fail']);
  });

  it('that rejects or throws is in doubt, and its error is passed on', async () => {
    const journal = new Journal();
    const recorder = journal.recorder();
    const error = Object.assign(new Error('gone'), { code: 'ERR_OUTCOME_UNKNOWN' });
    await expect(recorder.acquire(REQUEST, () => Promise.reject(error))).rejects.toBe(error);
    const throws = () => {
      throw new TypeError('no');
    };
    await expect(recorder.acquire(REQUEST, throws)).rejects.toThrow(TypeError);
    expect(journal.events.map(({ type, what }) => what ?? type)).toEqual([
      'invoke',
      'ERR_OUTCOME_UNKNOWN',
      'invoke',
      'TypeError',
    ]);
  });

  it('of a multi lock is recorded under each key, with one hold for each', async () => {
    const journal = new Journal();
    const hold = new FakeHold();
    const request = { ...REQUEST, key: ['a', 'b'] };
    const recorded = await journal.recorder().acquire(request, async () => hold);
    hold.controller.abort({ reason: 'unreachable' });
    await recorded?.release(async () => false);
    const steps = journal.events.map(({ key, op, type, hold: id }) => `${key} ${op} ${type} ${id ?? '-'}`);
    expect(steps).toEqual([
      'a acquire invoke -',
      'b acquire invoke -',
      'a acquire ok p/1@a',
      'b acquire ok p/1@b',
      'a lost info p/1@a',
      'b lost info p/1@b',
      'a release invoke p/1@a',
      'b release invoke p/1@b',
      'a release fail p/1@a',
      'b release fail p/1@b',
    ]);
    const calls = journal.events.map(({ call }) => call);
    expect(calls.slice(0, 4)).toEqual([1, 2, 1, 2]);
  });

  it('of a plain permit has neither a deadline nor a loss', async () => {
    const journal = new Journal();
    const request = { ...REQUEST, kind: 'semaphore', permits: 2 } as const;
    const recorded = await journal.recorder().acquire(request, async () => ({}));
    await recorded?.release(async () => true);
    expect(journal.events.every(({ deadlineNs }) => deadlineNs === undefined)).toBe(true);
    expect(journal.events.map(({ op, permits }) => `${op} ${permits}`)).toEqual([
      'acquire 2',
      'acquire 2',
      'release 2',
      'release 2',
    ]);
  });

  it('of something permanent has no deadline', async () => {
    const journal = new Journal();
    const hold = Object.assign(new FakeHold(), { remainingMs: Number.POSITIVE_INFINITY });
    await journal.recorder().acquire(REQUEST, async () => hold);
    expect(journal.events.at(-1)).not.toHaveProperty('deadlineNs');
  });
});

describe('a recorded call', () => {
  it('succeeds or fails, as its answer says', async () => {
    const journal = new Journal();
    const recorder = journal.recorder();
    expect(await recorder.call('await', REQUEST, async () => 3)).toBe(3);
    await recorder.call('write', { ...REQUEST, token: 7 }, async () => false, Boolean);
    expect(journal.events.map(({ op, type }) => `${op} ${type}`)).toEqual([
      'await invoke',
      'await ok',
      'write invoke',
      'write fail',
    ]);
    expect(journal.events.at(-1)?.token).toBe(7);
  });
});

describe('an incident', () => {
  it('is recorded unchanged, on behalf of another process if necessary', () => {
    const journal = new Journal();
    const recorder = journal.recorder('parent');
    recorder.record({ worker: '', key: '', op: 'fault', type: 'invoke', what: 'cut' });
    recorder.record({ proc: 'child', worker: '', key: '', op: 'died', type: 'info' });
    expect(journal.events.map(({ proc, op }) => `${proc} ${op}`)).toEqual(['parent fault', 'child died']);
  });
});

describe('a hold that is recorded', () => {
  it('is lost when its signal says so, with the reason', async () => {
    const journal = new Journal();
    const hold = new FakeHold();
    await journal.recorder().acquire(REQUEST, async () => hold);
    hold.controller.abort({ reason: 'notOwner' });
    expect(journal.events.at(-1)).toMatchObject({ op: 'lost', type: 'info', what: 'notOwner', hold: 'p/1' });
  });

  it('is lost at once if it was lost before it was recorded', async () => {
    const journal = new Journal();
    const hold = new FakeHold();
    hold.controller.abort({ reason: 'expired' });
    await journal.recorder().acquire(REQUEST, async () => hold);
    expect(journal.events.map(({ op }) => op)).toEqual(['acquire', 'acquire', 'lost']);
  });

  it.each([5_000, 100])('has another deadline when one is read: %s ms from now', async (remainingMs) => {
    const journal = new Journal();
    const hold = new FakeHold();
    await journal.recorder().acquire(REQUEST, async () => hold);
    const setAtNs = nowNs();
    hold.remainingMs = remainingMs;
    const { deadlineNs = 0, atNs, hold: id } = await journal.next('held');
    expect(id).toBe('p/1');
    const readAtNs = deadlineNs - remainingMs * 1e6;
    expect(readAtNs).toBeGreaterThanOrEqual(setAtNs);
    expect(readAtNs).toBeLessThanOrEqual(atNs);
  });

  it('has no deadline once nothing remains', async () => {
    const journal = new Journal();
    const [over, other] = [new FakeHold(), new FakeHold()];
    const recorder = journal.recorder();
    await recorder.acquire(REQUEST, async () => over);
    await recorder.acquire(REQUEST, async () => other);
    over.remainingMs = 0;
    // Both are looked at in one go: when the other has been, so has this one.
    other.remainingMs = 9_000;
    expect(await journal.next('held')).toMatchObject({ hold: 'p/2' });
  });
});

describe('a process that stands still', () => {
  it('is recorded from the last look on', async () => {
    const journal = new Journal();
    journal.recorder();
    const fromNs = nowNs();
    block(60);
    const toNs = nowNs();
    const stall = await journal.next('stalled');
    expect(stall.fromNs).toBeLessThanOrEqual(fromNs);
    expect(stall.atNs).toBeGreaterThanOrEqual(toNs);
  });

  it('is recorded even when the recorder is closed right after', () => {
    const journal = new Journal();
    const recorder = journal.recorder();
    block(60);
    recorder.close();
    expect(journal.events.map(({ op }) => op)).toEqual(['stalled']);
  });
});

describe('a history in a file', () => {
  it('is shared by recorders and read back, without a last line that was cut short', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-history-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, 'history.jsonl');
    const recorders = ['a', 'b'].map((proc) => Recorder.toFile(path, proc));
    for (const recorder of recorders) {
      await recorder.acquire(REQUEST, async () => null);
      recorder.close();
    }
    await appendFile(path, '{"proc":"c","wor');
    expect(readHistory(path).map(({ proc, type }) => `${proc} ${type}`)).toEqual([
      'a invoke',
      'a fail',
      'b invoke',
      'b fail',
    ]);
  });
});
