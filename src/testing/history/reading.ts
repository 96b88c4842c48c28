/**
 * Reads the events of a history once, in order of time, and links those that belong together.
 */
import { type Call, Digest, type FaultSpan, type HoldStory, type KeyDigest } from './digest.ts';
import type { HistoryEvent, RecordedCall } from './event.ts';
import { type Span, Spans } from './spans.ts';

const CALLS: readonly RecordedCall[] = ['acquire', 'release', 'force', 'countDown', 'await', 'write'];
const IS_CALL: ReadonlySet<string> = new Set(CALLS);

/** Reads events, in any order. */
export function digestOf(history: readonly HistoryEvent[]): Digest {
  return new Reading().read(inOrder(history));
}

/** Sorts indexes, which is many times faster than sorting the events themselves. */
function inOrder(history: readonly HistoryEvent[]): HistoryEvent[] {
  const times = Float64Array.from(history, ({ atNs }) => atNs);
  const places = Uint32Array.from(history, (_, place) => place);
  // Events of the same moment stay in the order in which they were recorded.
  places.sort((a, b) => (times[a] as number) - (times[b] as number) || a - b);
  return Array.from(places, (place) => history[place] as HistoryEvent);
}

class Reading {
  readonly #calls: Call[] = [];
  readonly #holds: HoldStory[] = [];
  readonly #keys = new Map<string, KeyDigest>();
  readonly #faults: FaultSpan[] = [];
  readonly #deaths = new Map<string, number>();
  readonly #lastEventsNs = new Map<string, number>();
  readonly #stalls = new Map<string, Span[]>();
  /** By process, and by the number of the call. */
  readonly #openCalls = new Map<string, Map<number | string, Call>>();
  readonly #openFaults = new Map<string, FaultSpan[]>();
  readonly #byId = new Map<string, HoldStory>();
  /** Holds recorded without a name, the latest last, by worker and key. */
  readonly #unnamed = new Map<string, HoldStory[]>();

  read(events: readonly HistoryEvent[]): Digest {
    for (const event of events) {
      if (event.op !== 'died') this.#lastEventsNs.set(event.proc, event.atNs);
      if (IS_CALL.has(event.op)) this.#call(event);
      else this.#incident(event);
    }
    return new Digest({
      events,
      calls: this.#calls,
      holds: this.#holds,
      keys: this.#keys,
      faults: this.#faults,
      deaths: this.#deaths,
      stalls: new Map([...this.#stalls].map(([proc, spans]) => [proc, new Spans(spans)])),
      lastEventsNs: this.#lastEventsNs,
    });
  }

  #call(event: HistoryEvent): void {
    const open = this.#openCalls.get(event.proc) ?? new Map<number | string, Call>();
    this.#openCalls.set(event.proc, open);
    const id = event.call ?? `${event.worker} ${event.op} ${event.key}`;
    if (event.type === 'invoke') {
      open.set(id, this.#begin(event));
      return;
    }
    // A handwritten history may omit the invocation.
    const call = open.get(id) ?? this.#begin(event);
    open.delete(id);
    call.outcome = event;
    if (event.op === 'acquire' && event.type === 'ok') this.#grant(call, event);
  }

  #begin(invoke: HistoryEvent): Call {
    const call: Call = { invoke };
    this.#calls.push(call);
    this.#key(invoke.key).calls[invoke.op as RecordedCall].push(call);
    if (invoke.op === 'release') this.#release(call);
    return call;
  }

  #grant(call: Call, ok: HistoryEvent): void {
    const { invoke } = call;
    const { proc, worker, key, kind = 'lock', permits = 1, deadlineNs = Number.POSITIVE_INFINITY } = ok;
    // Permits of a rate limiter are consumed, not held.
    if (kind === 'rate') return;
    const name = ok.hold ?? invoke.hold;
    const id = name ?? `${proc}#${ok.call ?? ok.atNs}`;
    const hold: HoldStory = {
      id,
      call,
      key,
      kind,
      proc,
      worker,
      party: ok.party === undefined ? id : `${proc} ${ok.party}`,
      owner: ok.owner,
      token: ok.token,
      permits,
      invokedNs: invoke.atNs,
      grantedNs: ok.atNs,
      deadlineNs,
      deadlineReadNs: ok.atNs,
      leaseNs: ok.leaseMs === undefined ? deadlineNs - ok.atNs : ok.leaseMs * 1e6,
    };
    this.#byId.set(id, hold);
    this.#holds.push(hold);
    this.#key(key).holds.push(hold);
    if (name === undefined) addTo(this.#unnamed, `${proc} ${worker} ${key}`, hold);
  }

  #release(call: Call): void {
    const { hold: name, proc, worker, key } = call.invoke;
    const hold =
      name === undefined ? this.#unnamed.get(`${proc} ${worker} ${key}`)?.pop() : this.#byId.get(name);
    if (hold !== undefined) hold.release ??= call;
  }

  #incident(event: HistoryEvent): void {
    const { op, proc, atNs, key } = event;
    switch (op) {
      case 'held':
      case 'lost':
        this.#holdIncident(event);
        break;
      case 'set':
        this.#key(key).sets.push(event);
        break;
      case 'queue':
        this.#key(key).queues.push(event);
        break;
      case 'left':
        this.#key(key).lefts.push(event);
        break;
      case 'died':
        if (!this.#deaths.has(proc)) this.#deaths.set(proc, atNs);
        break;
      case 'stalled':
        addTo(this.#stalls, proc, [event.fromNs ?? atNs, atNs] as const);
        break;
      case 'fault':
        this.#fault(event);
    }
  }

  #holdIncident(event: HistoryEvent): void {
    const hold = this.#byId.get(event.hold ?? '');
    if (hold === undefined) return;
    const { atNs, deadlineNs } = event;
    if (event.op === 'lost') hold.lost ??= event;
    else if (deadlineNs !== undefined) {
      hold.deadlineNs = deadlineNs;
      hold.deadlineReadNs = atNs;
      hold.leaseNs = Math.max(hold.leaseNs, deadlineNs - atNs);
    }
  }

  /** A fault without a recorded end lasts until the end of the history. */
  #fault({ type, atNs, what = 'fault', call, removesHolds = false, procs }: HistoryEvent): void {
    const id = `${call ?? ''} ${what}`;
    if (type !== 'invoke') {
      const fault = this.#openFaults.get(id)?.shift();
      if (fault !== undefined) fault.toNs = atNs;
      return;
    }
    const fault = { name: what, fromNs: atNs, toNs: Number.POSITIVE_INFINITY, removesHolds, procs };
    addTo(this.#openFaults, id, fault);
    this.#faults.push(fault);
  }

  #key(key: string): KeyDigest {
    let digest = this.#keys.get(key);
    if (digest === undefined) {
      const calls = { acquire: [], release: [], force: [], countDown: [], await: [], write: [] };
      digest = { key, holds: [], calls, sets: [], queues: [], lefts: [] };
      this.#keys.set(key, digest);
    }
    return digest;
  }
}

function addTo<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}
