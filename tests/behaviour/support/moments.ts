/**
 * Small ways to say in a test what has happened, and when.
 */
import { expect, onTestFinished } from 'vitest';
import type { ClientEvents, Holdfast } from '../../../src/index.ts';

/** Resolves with the reason once the signal has aborted. */
export function whenAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}

/** What the call was rejected with; the test fails when it was not. */
export function rejection(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.unreachable('the call should have been rejected'),
    (error: unknown) => error,
  );
}

/** How long something took, with its result. */
export async function timed<T>(act: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const startedAt = performance.now();
  const result = await act();
  return { result, tookMs: performance.now() - startedAt };
}

/** A promise with its handles outside. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Warnings of the process from here to the end of the test, such as that of too many listeners. */
export function processWarnings(): Error[] {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => {
    process.off('warning', note);
  });
  return warnings;
}

/** Notes who is inside a critical section, and that they are never two. */
export class Room {
  readonly visitors: string[] = [];
  most = 0;
  #inside = 0;

  async visit(name: string, stay: () => unknown = () => undefined): Promise<void> {
    this.#inside += 1;
    this.most = Math.max(this.most, this.#inside);
    this.visitors.push(name);
    await stay();
    this.#inside -= 1;
  }
}

/** The warnings of a client from now on. */
export function warningsOf(client: Holdfast): ClientEvents['warning'][] {
  const heard: ClientEvents['warning'][] = [];
  client.on('warning', (warning) => heard.push(warning));
  return heard;
}
