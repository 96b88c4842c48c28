/**
 * Stands between holdfast and the client library it was given: sees every command of the client, and of every connection
 * that holdfast opens by duplicating it, and may send another one or answer by itself.
 */
import { createHash } from 'node:crypto';
import { Command, type Redis } from 'ioredis';

/** Sends a command by way of the client library, and answers what the server answered. */
export type Send = (command: Command) => Promise<unknown>;

/** What a mutant does with a command. Text in an answer has to be a Buffer, as the library was asked for Buffers. */
export type Interceptor = (command: Command, send: Send) => Promise<unknown>;

interface Duplicable {
  sendCommand(command: Command, ...rest: unknown[]): unknown;
  duplicate(override?: object): Redis;
}

/** Puts the interceptor in front of a client and of all its duplicates. */
export function intercept(redis: Redis, by: Interceptor): Redis {
  const patched = redis as unknown as Duplicable;
  const sendCommand = patched.sendCommand.bind(redis);
  const duplicate = patched.duplicate.bind(redis);
  const passed = new WeakSet<Command>();
  patched.sendCommand = (command, ...rest) => {
    // The library sends a command again this way when its connection broke.
    if (passed.has(command)) return sendCommand(command, ...rest);
    return by(command, async (sent) => {
      passed.add(sent);
      return sendCommand(sent, ...rest);
    });
  };
  patched.duplicate = (override) => intercept(duplicate(override), by);
  return redis;
}

/** A script as holdfast sends it. */
export interface SentScript {
  readonly sha1: string;
  readonly source: string;
}

/** Whether the command runs this script, by its SHA-1 or by its source. */
export function runs(command: Command, script: SentScript): boolean {
  const name = command.name.toLowerCase();
  const [what] = command.args;
  return (name === 'evalsha' && what === script.sha1) || (name === 'eval' && what === script.source);
}

/** How the proxy sees a request that runs one of these scripts. */
export function requestOf(...scripts: readonly SentScript[]): RegExp {
  const forms = scripts.flatMap(({ sha1, source }) => [`SHA ${sha1}`, ` ${escaped(source)}`]);
  return new RegExp(`^EVAL(?:${forms.join('|')}) `);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A command that asks for Buffers, as those of holdfast do. */
export function bufferCommand(name: string, args: readonly unknown[]): Command {
  return new Command(name, args as string[], { replyEncoding: null });
}

/** The same command once more, without what holdfast does to keep the library from writing it twice. */
export function unguarded({ name, args }: Command): Command {
  return bufferCommand(name, args);
}

/** A script with some places of its source replaced. */
export class PatchedScript implements SentScript {
  readonly sha1: string;
  readonly source: string;
  readonly original: SentScript;

  constructor(original: SentScript, ...places: readonly (readonly [replace: string, by: string])[]) {
    let { source } = original;
    for (const [replace, by] of places) {
      if (!source.includes(replace)) throw new Error(`There is no ${JSON.stringify(replace)} to replace`);
      source = source.replaceAll(replace, () => by);
    }
    this.original = original;
    this.source = source;
    this.sha1 = createHash('sha1').update(source).digest('hex');
  }

  /** How the proxy sees it, patched or not. */
  get request(): RegExp {
    return requestOf(this, this.original);
  }
}

/** Runs the patched scripts in the place of their originals. */
export function patching(...patches: readonly PatchedScript[]): Interceptor {
  return (command, send) => {
    const patch = patches.find(({ original }) => runs(command, original));
    if (patch === undefined) return send(command);
    // By the source: the server need not have been told of it.
    return send(bufferCommand('eval', [patch.source, ...command.args.slice(1)]));
  };
}
