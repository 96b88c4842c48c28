/**
 * Frees a holder for a person who has seen it, and writes down who did.
 */
import { freeHolder } from '../inspect/free-holder.ts';
import type { Board } from './board.ts';
import { readBody } from './http/body.ts';
import { json, refusal } from './http/responses.ts';
import type { LocksByKey } from './locks-by-key.ts';
import type { DashboardSettings } from './options.ts';
import type { AuditEntry, FreeAnswer, FreeRequest } from './protocol.ts';

export interface FreeSettings {
  readonly board: Board;
  readonly locks: LocksByKey;
  readonly audit: DashboardSettings['audit'];
}

interface Outcome {
  readonly freed: boolean;
  readonly error: string | null;
}

const NOTHING_THERE: Outcome = { freed: false, error: null };

function parsed(body: string): FreeRequest | undefined {
  try {
    const { key, owner } = JSON.parse(body) ?? {};
    return typeof key === 'string' && typeof owner === 'string' ? { key, owner } : undefined;
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Frees exactly that holder; the error if it cannot be known whether it was freed. */
async function tryToFree(locks: LocksByKey, { key, owner }: FreeRequest): Promise<Outcome> {
  try {
    return { freed: await freeHolder(locks, key, owner), error: null };
  } catch (error) {
    return { freed: false, error: messageOf(error) };
  }
}

/** @param by who asks, as the application says */
export async function answerFree(
  { board, locks, audit }: FreeSettings,
  request: Request,
  by: string | null,
): Promise<Response> {
  const body = await readBody(request);
  if (body === undefined) return refusal(413, 'The request is too large');
  const asked = parsed(body);
  if (asked === undefined) return refusal(400, 'Expected { "key": "…", "owner": "…" }');
  const { key, owner } = asked;
  const row = board.table.row(key);
  const label = row?.holders.find((holder) => holder.owner === owner)?.label ?? null;
  const write = (told: Pick<AuditEntry, 'step' | 'freed' | 'error'>) =>
    audit({ at: new Date().toISOString(), key, owner, label, by, ...told });
  // If this fails, nothing is freed: no holder is freed unnoticed.
  await write({ step: 'intent', freed: null, error: null });
  // What the page does not show cannot be freed: the pattern of the dashboard is a limit.
  const { freed, error } = row === undefined ? NOTHING_THERE : await tryToFree(locks, asked);
  await write({ step: 'outcome', freed, error });
  if (freed) {
    const text = by === null ? 'freed from the dashboard' : `freed from the dashboard by ${by}`;
    board.note({ at: Date.now(), what: 'freed', key, who: label ?? owner, text, source: 'events' }, true);
  }
  if (row === undefined) return json(200, { freed } satisfies FreeAnswer);
  if (error !== null) return refusal(502, error);
  // The page shows the new state at once; if that fails, the next look does.
  await board.refresh(key).catch(() => undefined);
  return json(200, { freed } satisfies FreeAnswer);
}
