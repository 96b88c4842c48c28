/** Gives a repair a bound, and an error that says what is still broken. */

const HEALED_WITHIN_MS = 20_000;

/** Notes what the repair is about to wait for. */
export type Step = (what: string) => void;

/** Rejects with what `act` rejects with, or after 20 s; either way the stage and the step are named. */
export async function healed(stage: string, act: (step: Step) => Promise<void>): Promise<void> {
  let waitingFor = 'its servers';
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${HEALED_WITHIN_MS} ms`)), HEALED_WITHIN_MS);
  });
  const repairing = act((what) => {
    waitingFor = what;
  });
  try {
    await Promise.race([repairing, tooLate]);
  } catch (error) {
    // What comes of it later is known by then.
    repairing.catch(() => undefined);
    const { message } = error as Error;
    throw new Error(
      `The stage ${JSON.stringify(stage)} did not recover while waiting for ${waitingFor}: ${message}`,
      {
        cause: error,
      },
    );
  } finally {
    clearTimeout(timer);
  }
}
