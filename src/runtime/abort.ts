/**
 * Many callbacks behind one listener for each AbortSignal.
 *
 * A signal shared by a thousand waiters would otherwise carry a thousand listeners, and Node warns of a
 * leak at the eleventh.
 */
type Callback = (reason: unknown) => void;

interface Fan {
  readonly callbacks: Set<Callback>;
  readonly listener: () => void;
}

const fans = new WeakMap<AbortSignal, Fan>();

/** Calls back once when the signal aborts. Returns a function that removes the callback. */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  let fan = fans.get(signal);
  if (fan === undefined) {
    const callbacks = new Set<Callback>();
    const listener = () => {
      for (const each of callbacks) each(signal.reason);
    };
    fan = { callbacks, listener };
    fans.set(signal, fan);
    signal.addEventListener('abort', listener, { once: true });
  }
  const { callbacks, listener } = fan;
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0 && fans.get(signal)?.callbacks === callbacks) {
      fans.delete(signal);
      signal.removeEventListener('abort', listener);
    }
  };
}
