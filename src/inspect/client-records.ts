/**
 * Reads who clients are. Their records are for people: a record that is missing or may not be read is no error.
 */
import { clientRecordKey } from '../keys.ts';
import { inspectClients } from '../scripts/generated.ts';
import type { ScriptRunner } from '../scripts/script.ts';
import type { ClientRecord, OwnerInfo } from './description.ts';
import type { DatedHold } from './own-record.ts';

const CLIENT_OF_OWNER = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):\d/;

/** The most records in one call. */
const AT_ONCE = 100;

/** The id of the client that an owner field names. */
export function clientOf(owner: string): string | null {
  return CLIENT_OF_OWNER.exec(owner)?.[1] ?? null;
}

/** What is known of clients. */
export class KnownClients {
  readonly #records = new Map<string, ClientRecord>();
  readonly #since = new Map<string, Date>();

  add(id: string, record: ClientRecord, held: readonly DatedHold[] = []): void {
    this.#records.set(id, record);
    for (const [key, owner, sinceMs] of held) {
      // A client speaks for itself only.
      if (clientOf(owner) === id) this.#since.set(`${owner} ${key}`, new Date(sinceMs));
    }
  }

  /** An owner field with what is known of its client. */
  owner(owner: string): OwnerInfo {
    const clientId = clientOf(owner);
    return { owner, clientId, client: this.#records.get(clientId ?? '') ?? null };
  }

  /** Since when the owner holds the key, as its client says. */
  heldSince(key: string, owner: string): Date | null {
    return this.#since.get(`${owner} ${key}`) ?? null;
  }
}

export class ClientRecords {
  readonly #driver: ScriptRunner;
  readonly #slotOf: (key: string) => number;
  readonly #own: readonly [id: string, record: ClientRecord];

  /**
   * @param slotOf keys of one slot can share one call
   * @param own what this client knows of itself, though its record may not be written yet
   */
  constructor(driver: ScriptRunner, slotOf: (key: string) => number, own: readonly [string, ClientRecord]) {
    this.#driver = driver;
    this.#slotOf = slotOf;
    this.#own = own;
  }

  /** The records of the clients that these owner fields name. Never rejects. */
  async read(owners: Iterable<string>): Promise<KnownClients> {
    const bySlot = new Map<number, Set<string>>();
    for (const owner of owners) {
      const id = clientOf(owner);
      if (id === null || id === this.#own[0]) continue;
      const slot = this.#slotOf(clientRecordKey(id));
      const together = bySlot.get(slot) ?? new Set();
      bySlot.set(slot, together.add(id));
    }
    const known = new KnownClients();
    known.add(...this.#own);
    const calls: Promise<void>[] = [];
    for (const together of bySlot.values()) {
      const ids = [...together];
      for (let i = 0; i < ids.length; i += AT_ONCE)
        calls.push(this.#readInto(known, ids.slice(i, i + AT_ONCE)));
    }
    await Promise.allSettled(calls);
    return known;
  }

  async #readInto(known: KnownClients, ids: readonly string[]): Promise<void> {
    const { records } = await inspectClients.run(this.#driver, { clients: ids.map(clientRecordKey) }, {});
    for (const [i, id] of ids.entries()) {
      const found = parsed(records[i] ?? '');
      if (found !== null) known.add(id, found.record, found.held);
    }
  }
}

/** Null for anything that is not a record: a later version may write others. */
function parsed(text: string): { record: ClientRecord; held: DatedHold[] } | null {
  try {
    const { label, host, pid, since, held } = JSON.parse(text);
    const isRecord =
      [label, host, since].every((field) => typeof field === 'string') && Number.isInteger(pid);
    if (!isRecord) return null;
    const dated = Array.isArray(held) ? held.filter(isDatedHold) : [];
    return { record: { label, host, pid, since: new Date(since) }, held: dated };
  } catch {
    return null;
  }
}

function isDatedHold(value: unknown): value is DatedHold {
  if (!Array.isArray(value)) return false;
  const [key, owner, sinceMs] = value;
  return typeof key === 'string' && typeof owner === 'string' && Number.isFinite(sinceMs);
}
