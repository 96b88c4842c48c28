/** The fences that need no server of ours: in memory, and in a real SQL database. */
import initSqlJs from 'sql.js';
import { describe, expect, it } from 'vitest';
import { MemoryFence, OptionError, StaleTokenError, sqlFence } from '../../../src/index.ts';

describe('MemoryFence', () => {
  it('accepts rising or equal tokens, and refuses the late token of a paused holder', () => {
    const guard = new MemoryFence();
    const [paused, next] = [1_700_000_000_000_001, 1_700_000_000_000_002];
    guard.admit('stock', paused);
    guard.admit('stock', next);
    guard.admit('stock', next);
    expect(() => guard.admit('stock', paused)).toThrow(StaleTokenError);
    expect(() => guard.admit('stock', paused)).toThrow(/1700000000000001.*stale.*1700000000000002/);
  });

  it('keeps resources apart, and forgets a resource on request', () => {
    const guard = new MemoryFence();
    guard.admit('a', 5);
    guard.admit('b', 1);
    guard.admit('b', 2);
    expect(() => guard.admit('b', 1)).toThrow(StaleTokenError);
    expect(() => guard.admit('a', 4)).toThrow(StaleTokenError);
    guard.forget('a');
    guard.admit('a', 1);
    expect(() => guard.admit('b', 1)).toThrow(StaleTokenError);
  });

  it('reports the refused token, the resource and the newest token', () => {
    const guard = new MemoryFence();
    guard.admit('stock', 5);
    try {
      guard.admit('stock', 4);
    } catch (error) {
      expect(error).toMatchObject({
        code: 'ERR_STALE_TOKEN',
        resource: 'stock',
        token: 4,
        newestToken: 5,
      });
    }
    expect.assertions(1);
  });

  it('refuses values that are not tokens', () => {
    const guard = new MemoryFence();
    guard.admit('stock', 5);
    for (const token of [Number.NaN, undefined, null, '9', 0, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => guard.admit('stock', token as number)).toThrow(OptionError);
    }
    expect(() => guard.admit('stock', 4)).toThrow(StaleTokenError);
  });
});

async function database() {
  const { Database } = await initSqlJs();
  const db = new Database();
  db.run('CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, fence_token INTEGER)');
  db.run('INSERT INTO account VALUES (1, 100, NULL)');
  const balance = () => db.exec('SELECT balance FROM account WHERE id = 1')[0]?.values[0]?.[0];
  return { db, balance };
}

describe('sqlFence, on SQLite', () => {
  it('with a numbered parameter: the late write of a paused holder changes no row', async () => {
    const { db, balance } = await database();
    const guard = sqlFence('?3');
    const write = (value: number, token: number) => {
      db.run(`UPDATE account SET balance = ?1, ${guard.set} WHERE id = ?2 AND ${guard.where}`, [
        value,
        1,
        token,
      ]);
      return db.getRowsModified();
    };
    const [paused, next] = [1_700_000_000_000_001, 1_700_000_000_000_002];
    expect(write(90, paused)).toBe(1);
    expect(write(80, next)).toBe(1);
    expect(write(75, next)).toBe(1);
    expect(write(70, paused)).toBe(0);
    expect(balance()).toBe(75);
  });

  it('with a bare parameter, bound twice', async () => {
    const { db, balance } = await database();
    const guard = sqlFence('?', 'fence_token');
    const write = (value: number, token: number) => {
      db.run(`UPDATE account SET balance = ?, ${guard.set} WHERE ${guard.where} AND id = 1`, [
        value,
        token,
        token,
      ]);
      return db.getRowsModified();
    };
    expect([write(1, 2), write(2, 1), write(3, 2)]).toEqual([1, 0, 1]);
    expect(balance()).toBe(3);
  });

  it('claimed before it is read, the row accepts nothing computed from an older reading', async () => {
    const { db, balance } = await database();
    const guard = sqlFence(':token');
    const claim = (token: number) => {
      db.run(`UPDATE account SET ${guard.set} WHERE id = 1 AND ${guard.where}`, { ':token': token });
      return db.getRowsModified();
    };
    const write = (value: number, token: number) => {
      const bound = { ':value': value, ':token': token };
      db.run(`UPDATE account SET balance = :value, ${guard.set} WHERE id = 1 AND ${guard.where}`, bound);
      return db.getRowsModified();
    };
    const [paused, next] = [1_700_000_000_000_001, 1_700_000_000_000_002];
    expect(claim(paused)).toBe(1);
    const readByPaused = Number(balance());
    expect(claim(next)).toBe(1);
    const readByNext = Number(balance());
    expect(write(readByPaused + 10, paused)).toBe(0);
    expect(write(readByNext + 1, next)).toBe(1);
    expect(claim(paused)).toBe(0);
    expect(balance()).toBe(101);
  });

  it('in an upsert, with a qualified column', async () => {
    const { db } = await database();
    const guard = sqlFence('?3', 'account.fence_token');
    const upsert = `INSERT INTO account (id, balance, fence_token) VALUES (?1, ?2, ?3)
      ON CONFLICT (id) DO UPDATE SET balance = ?2, ${guard.set} WHERE ${guard.where}`;
    const write = (value: number, token: number) => {
      db.run(upsert, [2, value, token]);
      return db.getRowsModified();
    };
    expect([write(10, 5), write(20, 6), write(30, 5)]).toEqual([1, 1, 0]);
    const row = db.exec('SELECT balance, fence_token FROM account WHERE id = 2')[0]?.values[0];
    expect(row).toEqual([20, 6]);
  });

  it('accepts only a placeholder and a column into the SQL text', () => {
    for (const parameter of ['', '3', "'x'", '$1; DROP TABLE account', '$']) {
      expect(() => sqlFence(parameter)).toThrow(OptionError);
    }
    for (const column of ['', 'a b', 'a;', '1a', 'a.b.c', '"a"']) {
      expect(() => sqlFence('?', column)).toThrow(OptionError);
    }
    expect(sqlFence('$3', 'account.token')).toEqual({
      set: 'token = $3',
      where: '(account.token IS NULL OR account.token <= $3)',
    });
  });
});
