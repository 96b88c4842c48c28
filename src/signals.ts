/**
 * Closes clients when the process is asked to end, and then lets it end.
 */
import { constants } from 'node:os';

type Close = () => Promise<void>;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const closers = new Set<Close>();

function listen(): void {
  // Before the program's own handlers, so that those are seen which are there for one signal only.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  stopListening();
  // Our listener kept the signal from ending the process. Where the program has its own, that decides.
  const isOursToEnd = process.listenerCount(signal) === 0;
  // All of them before the end: the first that is done must not take the others down with it.
  void Promise.allSettled([...closers].map((close) => close())).then(() => {
    if (isOursToEnd) end(signal);
  });
}

function end(signal: NodeJS.Signals): void {
  // The kernel lets no unhandled signal end PID 1, which a container's only process is. Shells report 128 + its number.
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  process.kill(process.pid, signal);
}

/** Runs `close` on the first SIGTERM or SIGINT. Returns what makes the client forget about signals again. */
export function closeOnSignals(close: Close): () => void {
  if (closers.size === 0) listen();
  closers.add(close);
  return () => {
    if (closers.delete(close) && closers.size === 0) stopListening();
  };
}
