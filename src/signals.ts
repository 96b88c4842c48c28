/**
 * Closes clients when the process is asked to end, and then lets it end.
 */
import { constants } from 'node:os';

type Close = () => Promise<void>;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const closers = new Set<Close>();

function listen(): void {
  // Before the program's own handlers, so that its `once` handlers are still there to be counted.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  stopListening();
  // Our listener kept the signal from ending the process. If the program has its own, that one decides.
  const isOursToEnd = process.listenerCount(signal) === 0;
  // Close all clients first: the first to finish must not end the process for the others.
  void Promise.allSettled([...closers].map((close) => close())).then(() => {
    if (isOursToEnd) end(signal);
  });
}

function end(signal: NodeJS.Signals): void {
  // The kernel lets no unhandled signal end PID 1, a container's only process. Shells report 128 + the signal's number.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  process.kill(process.pid, signal);
}

/** Runs `close` on the first SIGTERM or SIGINT. Returns a function that undoes this. */
export function closeOnSignals(close: Close): () => void {
  if (closers.size === 0) listen();
  closers.add(close);
  return () => {
    if (closers.delete(close) && closers.size === 0) stopListening();
  };
}
