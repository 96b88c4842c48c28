/**
 * Runs scripts against a real server and keeps count of what they answered; what they left in Redis is
 * read with hand-written commands, and keys and channels are spelled by hand as well.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { ScriptReply } from '../../../src/drivers/driver.ts';
import type { ScriptRunner } from '../../../src/scripts/script.ts';
import type { RawArgument, RawConnection, RawReply } from '../../../src/testing/index.ts';
import { randomName } from '../../harness/names.ts';
import { openShared } from '../../harness/servers.ts';

const LUA = new URL('../../../lua/', import.meta.url);

/** When a key expires. PEXPIRETIME says so since Redis 7; before, PTTL does within a millisecond that does not end. */
const ENDS_AT = `
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local before, left
repeat
  before = now()
  left = redis.call('PTTL', KEYS[1])
until now() == before
return string.format('%.0f', before + left)`;

/** What is used of a `Script`. */
interface Runnable<Keys, Args, Reply extends { status: string }> {
  readonly name: string;
  readonly source: string;
  run(driver: ScriptRunner, keys: Keys, args: Args): Promise<Reply>;
}

/** The folders of lua/ that hold scripts. */
export function scriptFolders(): string[] {
  return readdirSync(LUA).filter((folder) => folder !== 'lib');
}

/** Every word that the scripts of a folder say they may answer, as `folder/script word`. */
function declaredWords(folder: string): string[] {
  const words: string[] = [];
  for (const file of readdirSync(new URL(`${folder}/`, LUA))) {
    const source = readFileSync(new URL(`${folder}/${file}`, LUA), 'utf8');
    const returns = /^--- @returns (.*(?:\n--- {2,}.*)*)$/m.exec(source)?.[1] ?? '';
    const script = `${folder}/${file.replace(/\.lua$/, '')}`;
    for (const [, word] of returns.matchAll(/\{ '([^']+)'/g)) words.push(`${script} ${word}`);
  }
  return words.sort();
}

/** A driver that is nothing but a connection. */
export function rawDriver(connection: RawConnection): ScriptRunner {
  return {
    script: ([name, ...args]) => connection.command(String(name), ...args) as Promise<ScriptReply>,
  };
}

export class ScriptBench {
  readonly #answered = new Set<string>();
  readonly #names: string[] = [];
  /** Keys that a test wrote itself, which may be without expiry. */
  readonly #planted = new Set<string>();
  #connection: RawConnection | undefined;

  /** To be called once, at the top of a file. */
  constructor() {
    beforeEach(async () => {
      this.#connection = await openShared();
    });
    afterEach(() => this.#checkExpiries());
  }

  get connection(): RawConnection {
    if (this.#connection === undefined) throw new Error('outside of a test');
    return this.#connection;
  }

  /** A name of the test's own. */
  name(template: (random: string) => string = (random) => random): string {
    const random = randomName('lua');
    this.#names.push(random);
    return template(random);
  }

  command(...args: [RawArgument, ...RawArgument[]]): Promise<RawReply> {
    return this.connection.command(...args);
  }

  /** Writes something that is not a script's work. */
  async plant(command: string, key: string, ...args: RawArgument[]): Promise<void> {
    this.#planted.add(key);
    await this.command(command, key, ...args);
  }

  /** Says that a script leaves this key without expiry, as it should. */
  expectImmortal(key: string): void {
    this.#planted.add(key);
  }

  async run<Keys, Args, Reply extends { status: string }>(
    script: Runnable<Keys, Args, Reply>,
    keys: Keys,
    args: Args,
    connection: RawConnection = this.connection,
  ): Promise<Reply> {
    const reply = await script.run(rawDriver(connection), keys, args);
    this.#answered.add(`${script.name} ${reply.status}`);
    return reply;
  }

  /** The fields of a hash as an object. */
  async hash(key: string): Promise<Record<string, string>> {
    const flat = (await this.command('HGETALL', key)) as string[];
    const fields: Record<string, string> = {};
    for (let i = 0; i < flat.length; i += 2) fields[flat[i] as string] = flat[i + 1] as string;
    return fields;
  }

  async pttl(key: string): Promise<number> {
    return (await this.command('PTTL', key)) as number;
  }

  /** When the key expires, by the server's clock. */
  async endsAt(key: string): Promise<number> {
    return Number(await this.command('EVAL', ENDS_AT, 1, key));
  }

  async exists(key: string): Promise<boolean> {
    return (await this.command('EXISTS', key)) === 1;
  }

  /** Listens to a channel; what it returns answers everything that was published there up to now. */
  async listenTo(channel: string, publisher = this.connection): Promise<() => Promise<string[]>> {
    const listener = await openShared();
    await listener.subscribe(channel);
    return heardOn(listener, channel, publisher);
  }

  /** The last test of a file: fails when a script has a word that no test of the file made it say. */
  itCoversEveryWordOf(folder: string): void {
    it(`every reply word of every script of lua/${folder} was answered`, () => {
      const declared = declaredWords(folder);
      expect(declared).not.toEqual([]);
      const answered = [...this.#answered].filter((word) => word.startsWith(`${folder}/`));
      expect(answered.sort()).toEqual(declared);
    });
  }

  async #checkExpiries(): Promise<void> {
    const immortal: string[] = [];
    for (const name of this.#names.splice(0)) {
      for (const key of (await this.command('KEYS', `*${name}*`)) as string[]) {
        if (!this.#planted.has(key) && (await this.pttl(key)) === -1) immortal.push(key);
      }
    }
    expect(immortal, 'keys that a script left without expiry').toEqual([]);
  }
}

/** Messages of one connection arrive in order: what came before a message of our own is all there was. */
export function heardOn(
  listener: RawConnection,
  channel: string,
  publisher: RawConnection,
): () => Promise<string[]> {
  const heard: string[] = [];
  const stop = listener.onMessage(({ message }) => heard.push(message));
  onTestFinished(() => stop());
  return async () => {
    const last = new Promise<void>((resolve) => {
      const off = listener.onMessage(({ message }) => {
        if (message !== 'all heard') return;
        off();
        resolve();
      });
    });
    await publisher.command('PUBLISH', channel, 'all heard');
    await last;
    return heard.filter((message) => message !== 'all heard');
  };
}

/** A lease that is running: at most what was asked for, and not long ago. */
export function expectRunning(remainingMs: number, leaseMs: number): void {
  expect(remainingMs).toBeLessThanOrEqual(leaseMs);
  expect(remainingMs).toBeGreaterThan(leaseMs - 20_000);
}
