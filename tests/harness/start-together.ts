/** Several things started at once, of which either all run or none. */

interface Closable {
  close(): Promise<void>;
}

export async function closeAll(running: Iterable<Closable>): Promise<void> {
  await Promise.all([...running].map((one) => one.close()));
}

/** Resolves when all have started. When one fails, the others are closed before it rejects. */
export async function startTogether<One extends Closable>(starts: readonly Promise<One>[]): Promise<One[]> {
  try {
    return await Promise.all(starts);
  } catch (error) {
    const settled = await Promise.allSettled(starts);
    await closeAll(settled.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])));
    throw error;
  }
}

/** Runs what may fail on something that runs already; closes it when it does fail. */
export async function orClose<Answer>(running: Closable, act: () => Promise<Answer>): Promise<Answer> {
  try {
    return await act();
  } catch (error) {
    await running.close();
    throw error;
  }
}
