/** Waiting for what no promise announces. */

/** Resolves when the signal aborts. */
export async function whenAborted(signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined || signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
