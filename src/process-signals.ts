/**
 * Closes clients when the process is asked to end, and then lets it end.
 */
import { constants } from 'node:os';
import type { CloseOptions } from './options/client-options.ts';
import { sharedByCopies } from './package-copies.ts';

type Close = (options?: CloseOptions) => Promise<void>;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Shared, because the copy that finishes first must not end the process for the others. */
const registry = sharedByCopies('holdfast.signals', () => ({
  /** Every client's way to close, and how to close it on the first signal. */
  closers: new Map<Close, CloseOptions>(),
  /** Of the copy that listens. */
  stopListening: () => {},
  /** The first signal has come, and clients drain. */
  isDraining: false,
}));

function listen(): void {
  // Before the program's own handlers, so that its `once` handlers are still there to be counted.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  registry.stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if (registry.isDraining) endDrains();
  else closeAll(signal);
}

function closeAll(signal: NodeJS.Signals): void {
  const { closers } = registry;
  // Our listener kept the signal from ending the process. If the program has its own, that one decides.
  const isOursToEnd = process.listenerCount(signal) === 1;
  registry.isDraining = [...closers.values()].some(({ drainMs = 0 }) => drainMs > 0);
  // While clients drain, the next signal must not end the process: their holds would stay for a lease.
  if (!registry.isDraining) registry.stopListening();
  // Close all clients first: the first to finish must not end the process for the others.
  void Promise.allSettled([...closers].map(([close, options]) => close(options))).then(() => {
    registry.isDraining = false;
    if (isOursToEnd) end(signal);
  });
}

/** The second signal: whoever sent it will not wait. A third one finds no listener of ours. */
function endDrains(): void {
  registry.stopListening();
  void Promise.allSettled([...registry.closers.keys()].map((close) => close()));
}

function end(signal: NodeJS.Signals): void {
  // The kernel lets no unhandled signal end PID 1, a container's only process. Shells report 128 + the signal's number.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  // A client that was made since may have us listen.
  registry.stopListening();
  process.kill(process.pid, signal);
}

/**
 * Closes a client on the first SIGTERM or SIGINT, with the options given; on the second, a client that drains is closed
 * at once. Returns a function that undoes this.
 */
export function closeOnSignals(close: Close, options: CloseOptions): () => void {
  const { closers } = registry;
  if (closers.size === 0) listen();
  closers.set(close, options);
  return () => {
    if (closers.delete(close) && closers.size === 0) registry.stopListening();
  };
}
