/**
 * A holder as looks at the server show it, one after the other: since when, and until when.
 */
import type { Description } from '../../inspect/description.ts';
import { holdersOf, permitsOf } from '../../inspect/reading.ts';
import type { RowHolder } from '../protocol.ts';

/** The end of a lease is computed from two clocks and a round trip: a smaller move is no renewal. */
const JITTER_MS = 500;

/** Where a person expects the name of a holder. */
export function nameOf({ label, owner }: Pick<RowHolder, 'label' | 'owner'>): string {
  return label ?? owner;
}

function endOf(remainingMs: number, at: number, before: RowHolder | undefined): number | null {
  if (remainingMs === Number.POSITIVE_INFINITY) return null;
  const endsAt = Math.round(at + remainingMs);
  const beforeAt = before?.endsAt ?? null;
  return beforeAt !== null && Math.abs(endsAt - beforeAt) <= JITTER_MS ? beforeAt : endsAt;
}

function leaseOf(remainingMs: number, before: RowHolder | undefined): number | null {
  if (remainingMs === Number.POSITIVE_INFINITY) return null;
  const longest = before?.leaseMs ?? 0;
  return remainingMs > longest + JITTER_MS || longest === 0 ? Math.round(remainingMs) : longest;
}

/** Since when: as its client says, or else since it was first seen. */
function sinceOf(
  heldSince: Date | null,
  at: number,
  before: RowHolder | undefined,
): Pick<RowHolder, 'since' | 'isSeen'> {
  if (heldSince === null) return { since: before?.since ?? at, isSeen: before?.isSeen ?? true };
  const since = heldSince.getTime();
  const isSame = before?.isSeen === false && Math.abs(since - before.since) <= JITTER_MS;
  return { since: isSame ? before.since : since, isSeen: false };
}

/**
 * Everything that holds it, or its permits.
 *
 * @param at when the server answered
 * @param before what the look before showed, by owner
 */
export function seenHolders(
  found: Description,
  at: number,
  before: ReadonlyMap<string, RowHolder>,
): Map<string, RowHolder> {
  const seen = new Map<string, RowHolder>();
  for (const { owner, client, holdCount, remainingMs, heldSince } of holdersOf(found)) {
    const earlier = before.get(owner);
    seen.set(owner, {
      owner,
      label: client?.label ?? null,
      host: client?.host ?? null,
      pid: client?.pid ?? null,
      holdCount,
      endsAt: endOf(remainingMs, at, earlier),
      leaseMs: leaseOf(remainingMs, earlier),
      ...sinceOf(heldSince, at, earlier),
    });
  }
  for (const { id, remainingMs, heldSince } of permitsOf(found)) {
    const earlier = before.get(id);
    seen.set(id, {
      owner: id,
      label: null,
      host: null,
      pid: null,
      holdCount: 1,
      endsAt: endOf(remainingMs, at, earlier),
      leaseMs: leaseOf(remainingMs, earlier),
      ...sinceOf(heldSince, at, earlier),
    });
  }
  return seen;
}
