/**
 * Closes clients when the process is asked to end, and then lets it end.
 */

type Close = () => Promise<void>;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const closers = new Set<Close>();

function listen(): void {
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function stopListening(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

function onSignal(signal: NodeJS.Signals): void {
  stopListening();
  // All of them before the end: the first that is done must not take the others down with it.
  void Promise.allSettled([...closers].map((close) => close())).then(() => {
    // Our listener kept the signal from ending the process. Where the program has its own, that decides.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  });
}

/** Runs `close` on the first SIGTERM or SIGINT. Returns what makes the client forget about signals again. */
export function closeOnSignals(close: Close): () => void {
  if (closers.size === 0) listen();
  closers.add(close);
  return () => {
    if (closers.delete(close) && closers.size === 0) stopListening();
  };
}
