/**
 * Counts what a stretch of code makes this process do: promises, timers and calls of `node:os` it makes. Starting and
 * stopping are synchronous, so that the meter adds nothing to what it counts.
 */
import { createHook } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import type { Redis } from 'ioredis';
import type { Figures } from './compare.ts';

/** Kinds of resources as `async_hooks` names them. */
const KINDS = { promises: 'PROMISE', timers: 'Timeout', immediates: 'Immediate' } as const;

/** Every function of `node:os` asks the kernel. */
function watchSystem(onCall: () => void): void {
  for (const [name, value] of Object.entries(os)) {
    if (typeof value !== 'function') continue;
    const watched = (...args: unknown[]) => {
      onCall();
      return Reflect.apply(value, os, args);
    };
    Object.defineProperty(os, name, { value: watched, writable: true, configurable: true, enumerable: true });
  }
  // Modules that imported a function by its name get the watched one from here on.
  syncBuiltinESMExports();
}

export class Meter {
  readonly #made = new Map<string, number>();
  readonly #hook = createHook({
    init: (_id, type) => {
      this.#made.set(type, (this.#made.get(type) ?? 0) + 1);
    },
  });
  #systemCalls = 0;

  constructor() {
    watchSystem(() => {
      this.#systemCalls += 1;
    });
  }

  start(): void {
    this.#made.clear();
    this.#systemCalls = 0;
    this.#hook.enable();
  }

  /** Does something for the count itself. */
  uncounted(act: () => void): void {
    this.#hook.disable();
    act();
    this.#hook.enable();
  }

  stop(): Figures {
    this.#hook.disable();
    const kinds = Object.entries(KINDS).map(([title, type]) => [title, this.#made.get(type) ?? 0]);
    return { ...Object.fromEntries(kinds), 'calls of node:os': this.#systemCalls };
  }
}

/** What has gone through the sockets of these clients so far. */
export function bytesOf(clients: readonly Redis[]): Figures {
  const total = (of: 'bytesWritten' | 'bytesRead') =>
    clients.reduce((sum, { stream }) => sum + (stream as unknown as Record<typeof of, number>)[of], 0);
  return { 'bytes written': total('bytesWritten'), 'bytes read': total('bytesRead') };
}

/** How often the meter itself has asked the server. */
let questions = 0;

/** Calls of each command at the server so far, those made by scripts included; the meter's own are left out. */
export async function commandsOf(server: Redis): Promise<Figures> {
  const info = await server.info('commandstats');
  const calls = [...info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const own = questions;
  questions += 1;
  return Object.fromEntries(
    calls.map(([, command = '', count]) => [
      `server: ${command.toUpperCase()}`,
      Number(count) - (command === 'info' ? own : 0),
    ]),
  );
}
