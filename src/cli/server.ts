/**
 * Single commands to the server, for what is not a lock: the marker of `run --once`, and the questions of `doctor` and
 * `bench`.
 */
import { SystemClock } from '../clock.ts';
import { withCallTimeout } from '../drivers/call-timeout.ts';
import { openDriver } from '../drivers/connect.ts';
import type { Driver, ScriptReply } from '../drivers/driver.ts';
import { checkTarget } from '../options/target.ts';
import { type ConnectionFlags, targetOf } from './connection.ts';
import { UsageError } from './failure.ts';

const DEFAULT_TIMEOUT_MS = 3_000;

export class Server implements AsyncDisposable {
  readonly driver: Driver;

  private constructor(driver: Driver) {
    this.driver = driver;
  }

  /** Connects as the flags say. */
  static async connect(flags: ConnectionFlags): Promise<Server> {
    const where = checkTarget(targetOf(flags, process.env));
    if (where.kind === 'embedded') throw new UsageError('Expected the address of a server');
    const { commandTimeout: commandTimeoutMs = DEFAULT_TIMEOUT_MS } = flags;
    const driver = await openDriver(where, { commandTimeoutMs, connectionName: 'holdfast:cli' });
    return new Server(withCallTimeout(driver, new SystemClock(), commandTimeoutMs));
  }

  /** Sends a command to the primary that has the key. */
  async command(key: string, ...command: string[]): Promise<ScriptReply> {
    try {
      return await this.at(this.driver.nodeOf(key), ...command);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('MOVED'))) throw error;
      await this.driver.rediscover(key);
      return this.at(this.driver.nodeOf(key), ...command);
    }
  }

  /** Sends a command to one primary, by the driver's name for it. */
  async at(node: string, ...command: string[]): Promise<ScriptReply> {
    const connection = await this.driver.openConnection(node, { onMessage() {}, onDown() {} });
    try {
      return await connection.send(command);
    } finally {
      connection.destroy();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.driver.close();
  }
}
