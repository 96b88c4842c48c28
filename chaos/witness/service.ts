/**
 * The witness: counters that workers read, add one to and write back, out of reach of every fault.
 *
 * `plain` takes what it is given. `memory` and `sql` are guarded by the fencing token of the writer, by a
 * `MemoryFence` and by a row of a SQL database with `sqlFence`. An update is lost when a write was accepted and the
 * counter did not grow by it.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import initSqlJs, { type Database } from 'sql.js';
import { MemoryFence, StaleTokenError, sqlFence } from '../../src/index.ts';

export type Counter = 'plain' | 'memory' | 'sql';

/** `claim` shows the token before the value is read: from then on older tokens are refused. */
export type Question =
  | { readonly ask: 'read'; readonly counter: Counter; readonly key: string; readonly token?: number }
  | {
      readonly ask: 'write';
      readonly counter: Counter;
      readonly key: string;
      readonly value: number;
      readonly token?: number;
    };

/** The value, or that the fence refused the token. */
export type Answer = { readonly value: number } | { readonly refused: true };

/** What became of the writes to one kind of counter. */
export interface WitnessFigures {
  readonly written: number;
  readonly refused: number;
  /** Accepted writes that another one overwrote. */
  readonly lost: number;
}

interface Ledger {
  read(key: string, token: number): number;
  write(key: string, value: number, token: number): void;
  sum(): number;
}

class PlainLedger implements Ledger {
  readonly #values = new Map<string, number>();

  read(key: string): number {
    return this.#values.get(key) ?? 0;
  }

  write(key: string, value: number): void {
    this.#values.set(key, value);
  }

  sum(): number {
    return [...this.#values.values()].reduce((sum, value) => sum + value, 0);
  }
}

class MemoryLedger extends PlainLedger {
  readonly #guard = new MemoryFence();

  override read(key: string, token = 0): number {
    this.#guard.admit(key, token);
    return super.read(key);
  }

  override write(key: string, value: number, token = 0): void {
    this.#guard.admit(key, token);
    super.write(key, value);
  }
}

const GUARD = sqlFence(':token');

class SqlLedger implements Ledger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run('CREATE TABLE counter (id TEXT PRIMARY KEY, value INTEGER NOT NULL, fence_token INTEGER)');
  }

  read(key: string, token: number): number {
    this.#database.run('INSERT OR IGNORE INTO counter VALUES (:id, 0, NULL)', { ':id': key });
    this.#update(`UPDATE counter SET ${GUARD.set} WHERE id = :id AND ${GUARD.where}`, {
      ':id': key,
      ':token': token,
    });
    return Number(this.#query('SELECT value FROM counter WHERE id = ?', [key]));
  }

  write(key: string, value: number, token: number): void {
    this.#update(`UPDATE counter SET value = :value, ${GUARD.set} WHERE id = :id AND ${GUARD.where}`, {
      ':id': key,
      ':value': value,
      ':token': token,
    });
  }

  sum(): number {
    return Number(this.#query('SELECT coalesce(sum(value), 0) FROM counter', []));
  }

  #update(statement: string, parameters: Record<string, string | number>): void {
    this.#database.run(statement, parameters);
    if (this.#database.getRowsModified() === 0) {
      throw new StaleTokenError(String(parameters[':id']), Number(parameters[':token']), Number.NaN);
    }
  }

  #query(statement: string, parameters: string[]): unknown {
    return this.#database.exec(statement, parameters)[0]?.values[0]?.[0];
  }
}

export class Witness {
  readonly #server: Server;
  readonly #ledgers: Readonly<Record<Counter, Ledger>>;
  readonly #written: Record<Counter, number> = { plain: 0, memory: 0, sql: 0 };
  readonly #refused: Record<Counter, number> = { plain: 0, memory: 0, sql: 0 };
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, database: Database) {
    this.#server = server;
    this.#ledgers = { plain: new PlainLedger(), memory: new MemoryLedger(), sql: new SqlLedger(database) };
  }

  /** Answers at the path of a Unix socket. */
  static async listen(path: string): Promise<Witness> {
    const sql = await initSqlJs();
    const server = createServer();
    const witness = new Witness(server, new sql.Database());
    server.on('connection', (socket) => witness.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    return witness;
  }

  figures(counter: Counter): WitnessFigures {
    const written = this.#written[counter];
    return { written, refused: this.#refused[counter], lost: written - this.#ledgers[counter].sum() };
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    const lines = createInterface({ input: socket });
    // A worker that is killed resets its connection.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      socket.write(`${JSON.stringify(this.#answer(JSON.parse(line) as Question))}\n`);
    });
  }

  #answer(question: Question): Answer {
    const { counter, key, token = 0 } = question;
    const ledger = this.#ledgers[counter];
    try {
      if (question.ask === 'read') return { value: ledger.read(key, token) };
      ledger.write(key, question.value, token);
      this.#written[counter] += 1;
      return { value: question.value };
    } catch (error) {
      if (!(error instanceof StaleTokenError)) throw error;
      this.#refused[counter] += 1;
      return { refused: true };
    }
  }
}
