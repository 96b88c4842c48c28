/** The requests of the page other than the stream. */
import type { FreeAnswer, FreeRequest, LockPage, Refusal } from '../../dashboard/protocol.ts';

export async function fetchLock(key: string, signal: AbortSignal): Promise<LockPage> {
  const response = await fetch(`api/lock?name=${encodeURIComponent(key.toWellFormed())}`, { signal });
  return answerOf<LockPage>(response);
}

/** Frees exactly that holder. */
export async function freeHolder(request: FreeRequest, csrf: string): Promise<FreeAnswer> {
  const response = await fetch('api/free', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-holdfast-csrf': csrf },
    body: JSON.stringify(request),
  });
  return answerOf<FreeAnswer>(response);
}

async function answerOf<Answer>(response: Response): Promise<Answer> {
  if (response.ok) return (await response.json()) as Answer;
  const { error } = (await response.json().catch(() => ({ error: `status ${response.status}` }))) as Refusal;
  throw new Error(`The dashboard refused: ${error}`);
}
