/** The state of the dashboard's page, as the events of the stream make it. */
import { describe, expect, it } from 'vitest';
import type { Happening, Hello } from '../../../src/dashboard/protocol.ts';
import {
  type Change,
  INITIAL,
  reduce,
  type State,
  serverTime,
} from '../../../src/dashboard-ui/state/state.ts';
import { summarise } from '../../../src/dashboard-ui/state/summary.ts';
import { holder, point, row } from './support/rows.ts';

const LOAD = {
  scanned: 0,
  keys: 0,
  sweepMs: null,
  commandsPerSecond: 0,
  maxCommandsPerSecond: 100,
  countsListeners: true,
};

function hello(fields: Partial<Hello> = {}): Change {
  const data: Hello = {
    now: 5_000,
    title: 'locks of the shop',
    csrf: null,
    chartStepMs: 10_000,
    points: [],
    timeline: [],
    health: null,
    load: LOAD,
    ...fields,
  };
  return { type: 'hello', data, at: 1_000 };
}

function locks(whole: boolean, keys: string[], gone: string[] = [], at = 1_000, told = 5_000): Change {
  return { type: 'locks', data: { at: told, whole, changed: keys.map((key) => row(key)), gone }, at };
}

function stateAfter(...changes: Change[]): State {
  return changes.reduce(reduce, INITIAL);
}

function happening(id: number): Happening {
  return { id, at: id, what: 'lost', key: 'a', who: null, text: '', source: 'events' };
}

const keysOf = ({ rows }: State) => [...rows.keys()].sort();

describe('the connection', () => {
  it('is live from the first word on', () => {
    expect(INITIAL.connection).toBe('connecting');
    expect(stateAfter(hello())).toMatchObject({ connection: 'live', title: 'locks of the shop', load: LOAD });
  });

  it('is lost since the first time that it was missed, and keeps what is known', () => {
    const lost = stateAfter(
      hello(),
      locks(true, ['a']),
      { type: 'lost', at: 2_000 },
      { type: 'lost', at: 9_000 },
    );
    expect(lost).toMatchObject({ connection: 'lost', lostAt: 2_000 });
    expect(keysOf(lost)).toEqual(['a']);
    expect(stateAfter(hello(), { type: 'refused', at: 3_000 })).toMatchObject({
      connection: 'refused',
      lostAt: 3_000,
    });
    expect(reduce(lost, hello())).toMatchObject({ connection: 'live', lostAt: null });
  });
});

describe('the locks', () => {
  it('come whole, change and go', () => {
    const first = stateAfter(hello(), locks(true, ['a', 'b']));
    expect(first.isListed).toBe(true);
    const next = reduce(first, locks(false, ['c'], ['a']));
    expect(keysOf(next)).toEqual(['b', 'c']);
    expect(keysOf(first)).toEqual(['a', 'b']);
  });

  it('are replaced by the whole list of a new connection', () => {
    expect(keysOf(stateAfter(hello(), locks(true, ['a']), hello(), locks(true, ['b'])))).toEqual(['b']);
  });

  it('stay if the same message says that they are gone and there again', () => {
    expect(keysOf(stateAfter(hello(), locks(true, ['a']), locks(false, ['a'], ['a'])))).toEqual(['a']);
  });
});

describe('the server’s time', () => {
  it('runs with the page’s clock', () => {
    expect(serverTime(stateAfter(hello()), 1_700)).toBe(5_700);
  });

  it('is corrected by the fastest message of a connection', () => {
    const slow = stateAfter(hello(), locks(true, [], [], 2_000, 5_900));
    expect(slow.offsetMs).toBe(4_000);
    expect(reduce(slow, locks(false, [], [], 3_000, 7_040)).offsetMs).toBe(4_040);
    expect(reduce(slow, hello({ now: 1_000 })).offsetMs).toBe(0);
  });

  it('stands still without a connection', () => {
    expect(serverTime(stateAfter(hello(), { type: 'lost', at: 1_200 }), 60_000)).toBe(5_200);
  });
});

describe('charts and timeline', () => {
  it('have the points of the last hour, in order and once', () => {
    const hour = 3_600_000;
    const state = stateAfter(
      hello({ points: [point(0), point(10_000)] }),
      { type: 'point', data: point(hour), at: 1 },
      { type: 'point', data: point(hour, { held: 3 }), at: 1 },
    );
    expect(state.points.map(({ at, held }) => [at, held])).toEqual([
      [10_000, 0],
      [hour, 3],
    ]);
  });

  it('have the newest entry first, once, and a thousand at most', () => {
    const timeline = Array.from({ length: 1_000 }, (_, index) => happening(1_000 - index));
    const told: Change = { type: 'happened', data: happening(1_001), at: 1 };
    const state = stateAfter(hello({ timeline }), told, told);
    expect(state.timeline).toHaveLength(1_000);
    expect(state.timeline.slice(0, 2).map(({ id }) => id)).toEqual([1_001, 1_000]);
  });

  it('take over health and load', () => {
    const health = {
      at: 1,
      status: 'ok' as const,
      latencyMs: 1,
      topology: 'standalone',
      server: 'redis',
      nodes: [],
      problems: [],
    };
    const load = { ...LOAD, scanned: 9 };
    const state = stateAfter(
      hello(),
      { type: 'health', data: health, at: 1 },
      { type: 'load', data: load, at: 1 },
    );
    expect(state).toMatchObject({ health, load });
  });
});

describe('the tiles', () => {
  it('count held locks and all waiters', () => {
    const held = row('a', { holders: [holder(), holder({ owner: 'other' })], waiting: 3 });
    expect(summarise([held, row('b', { waiting: 2 })], [])).toMatchObject({ held: 1, waiting: 5 });
  });

  it('do not claim to know what no client has told', () => {
    expect(summarise([], [point(1), point(2)])).toMatchObject({ calls: null, contended: null, losses: null });
  });

  it('add up what was told', () => {
    const told = [
      point(1),
      point(2, { acquired: 8, contended: 2, losses: 0 }),
      point(3, { acquired: 2, losses: 1 }),
    ];
    expect(summarise([], told)).toMatchObject({ calls: 10, contended: 2, losses: 1 });
  });
});
