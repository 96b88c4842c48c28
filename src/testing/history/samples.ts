/**
 * Cuts short samples out of a history: everything that may have affected one key for a while, as operations of a model.
 *
 * Sound: a sample contains every hold that may have been inside at any moment of it, so a refusal within the sample
 * finds its explanation. Intervals in which holds may vanish from the server are left out.
 */
import type { Call, Digest, HoldStory, KeyDigest } from './digest.ts';
import type { Operation } from './linearizability.ts';
import {
  type Entry,
  fenced,
  type Model,
  mutex,
  readWrite,
  reentrant,
  reentrantFenced,
  semaphore,
} from './models.ts';
import { groupMembers, maybeUntilNs, surelyOverNs } from './occupancy.ts';
import { Random } from './random.ts';
import { Spans } from './spans.ts';
import type { CheckBounds } from './verdict.ts';

/** With more acquisitions a search takes too long. */
const MOST_ACQUISITIONS = 30;
/** The number of acquisitions a sample spans at first. */
const WANTED_ACQUISITIONS = 12;

/** An acquisition of a sample, with its consequences. */
export interface Part {
  readonly call: Call;
  readonly hold: HoldStory | undefined;
  readonly operations: readonly Operation[];
  /** When it may be inside, or is refused. */
  readonly fromNs: number;
  readonly toNs: number;
}

export interface Sample {
  readonly key: string;
  readonly model: Model;
  readonly parts: readonly Part[];
  readonly fromNs: number;
  readonly toNs: number;
}

/** Cuts samples from one history, and caches what several samples need. */
export class Sampler {
  readonly #digest: Digest;
  readonly #bounds: CheckBounds;
  readonly #groups: ReadonlySet<Call>;
  readonly #faults: Spans;
  readonly #removing: Spans;
  /** The holds by their acquisitions. */
  readonly #holds: ReadonlyMap<Call, HoldStory>;
  readonly #parts = new Map<Call, Part>();

  constructor(digest: Digest, bounds: CheckBounds) {
    this.#digest = digest;
    this.#bounds = bounds;
    this.#groups = groupMembers(digest);
    this.#holds = new Map(digest.holds.map((hold) => [hold.call, hold]));
    const settleNs = bounds.settleMs * 1e6;
    const spanOf = ({ fromNs, toNs }: { fromNs: number; toNs: number }) => [fromNs, toNs + settleNs] as const;
    this.#faults = new Spans(digest.faults.map(spanOf));
    this.#removing = new Spans(digest.faults.filter(({ removesHolds }) => removesHolds).map(spanOf));
  }

  /** Picks samples from the whole history, the same ones for the same seed. */
  pick(): Sample[] {
    const { samples, seed } = this.#bounds;
    const keys = [...this.#digest.keys.values()].filter(
      (key) => modelOf(key, this.#digest.endNs) !== undefined,
    );
    const random = new Random(seed);
    const picked: Sample[] = [];
    // Some places yield no sample, so the number of tries is limited.
    for (let tries = 0; picked.length < samples && tries < 4 * samples && keys.length > 0; tries += 1) {
      const key = keys[random.integer(0, keys.length - 1)] as KeyDigest;
      const sample = this.#near(key, random.integer(0, key.calls.acquire.length - 1));
      if (sample !== undefined) picked.push(sample);
    }
    return picked;
  }

  /** Everything that concerns the key in this time. */
  cut(key: KeyDigest, fromNs: number, toNs: number): Sample | undefined {
    const model = modelOf(key, toNs);
    if (model === undefined) return undefined;
    const isJudged = this.#refusalsCount(key, fromNs, toNs);
    const parts = key.calls.acquire
      .filter(({ invoke }) => invoke.atNs <= toNs)
      .map((call) => this.#partOf(call))
      .filter((part) => {
        if (part.toNs < fromNs) return false;
        const isRefused = part.call.outcome?.type === 'fail';
        return !isRefused || (part.fromNs >= fromNs && part.toNs <= toNs && isJudged(part.call));
      });
    const firstNs = parts.reduce((first, part) => Math.min(first, part.fromNs), fromNs);
    const lastNs = parts.reduce((last, part) => Math.max(last, mustEndNs(part)), toNs);
    const hasSet = key.sets.some(({ atNs }) => atNs >= firstNs && atNs <= lastNs);
    const mayVanish = this.#removing.touches(firstNs, lastNs + 1) || this.#isForced(key, firstNs, lastNs);
    return hasSet || mayVanish ? undefined : { key: key.key, model, parts, fromNs, toNs };
  }

  #near(key: KeyDigest, place: number): Sample | undefined {
    const { acquire } = key.calls;
    const fromNs = (acquire[place] as Call).invoke.atNs;
    for (let wanted = WANTED_ACQUISITIONS; wanted > 1; wanted = Math.floor(wanted / 2)) {
      const last = acquire[Math.min(place + wanted, acquire.length) - 1] as Call;
      const sample = this.cut(key, fromNs, this.#digest.endOf(last));
      if (sample !== undefined && sample.parts.length <= MOST_ACQUISITIONS) return sample;
    }
    return undefined;
  }

  #isForced({ calls }: KeyDigest, fromNs: number, toNs: number): boolean {
    return calls.force.some((force) => force.invoke.atNs <= toNs && this.#digest.endOf(force) >= fromNs);
  }

  /**
   * Which refusals are judged: only single attempts, since a wait may end before the server was asked; not near a
   * fault, when a new primary refuses all callers for a while; not those of groups, which give back what they could not
   * complete; not those of readers while a writer waits, since waiting writers have priority.
   */
  #refusalsCount(key: KeyDigest, fromNs: number, toNs: number): (call: Call) => boolean {
    const isGroup = key.holds.some(({ owner }) => owner?.includes(' ') ?? false);
    if (isGroup || key.holds.length === 0 || this.#faults.touches(fromNs, toNs + 1)) return () => false;
    const silentNs = this.#bounds.silentMs * 1e6;
    const writers = key.calls.acquire.filter(({ invoke }) => invoke.kind === 'write');
    const writing = new Spans(
      writers.map((call) => [call.invoke.atNs, this.#digest.endOf(call) + silentNs] as const),
    );
    return (call) =>
      call.invoke.waitMs === 0 &&
      !this.#groups.has(call) &&
      !(call.invoke.kind === 'read' && writing.touches(call.invoke.atNs, this.#digest.endOf(call)));
  }

  #partOf(call: Call): Part {
    const known = this.#parts.get(call) ?? this.#makePart(call, this.#holds.get(call));
    this.#parts.set(call, known);
    return known;
  }

  #makePart(call: Call, hold: HoldStory | undefined): Part {
    const { invoke, outcome } = call;
    const endNs = this.#digest.endOf(call);
    const entry = entryOf(call, hold);
    const fromNs = invoke.atNs;
    if (hold !== undefined) {
      const enters = { effect: { does: 'enter', entry }, fromNs, toNs: endNs, isOptional: false } as const;
      const operations = [enters, ...this.#endsOf(hold)];
      return { call, hold, operations, fromNs, toNs: surelyOverNs(this.#digest, hold) };
    }
    if (outcome?.type === 'fail') {
      const refused = {
        effect: { does: 'find taken', entry },
        fromNs,
        toNs: endNs,
        isOptional: false,
      } as const;
      return { call, hold, operations: [refused], fromNs, toNs: endNs };
    }
    const later = { fromNs, toNs: Number.POSITIVE_INFINITY, isOptional: true };
    const operations: Operation[] = [
      { effect: { does: 'enter', entry }, ...later },
      { effect: { does: 'leave', hold: entry.hold }, ...later },
    ];
    const isMember = this.#groups.has(call);
    const toNs = maybeUntilNs(this.#digest, call, isMember, this.#bounds) ?? Number.POSITIVE_INFINITY;
    return { call, hold, operations, fromNs, toNs };
  }

  /** How a hold may end: by a confirmed release, or by one in doubt, the end of its lease, its loss, a death. */
  #endsOf(hold: HoldStory): Operation[] {
    const { id, release, deadlineNs, lost, proc, kind, grantedNs } = hold;
    const effect = { does: 'leave', hold: id } as const;
    const ends: Operation[] = [];
    const later = { effect, toNs: Number.POSITIVE_INFINITY, isOptional: true };
    if (release?.outcome?.type === 'ok') {
      ends.push({ effect, fromNs: release.invoke.atNs, toNs: release.outcome.atNs, isOptional: false });
    } else if (release !== undefined) {
      ends.push({ ...later, fromNs: release.invoke.atNs });
    }
    if (kind === 'semaphore') return ends;
    const isSaidByServer = lost !== undefined && !SAID_BY_HOLDER.has(lost.what ?? '');
    const lostNs = isSaidByServer ? grantedNs : (lost?.atNs ?? Number.POSITIVE_INFINITY);
    const fromNs = Math.min(deadlineNs, lostNs, this.#digest.diedNs(proc));
    if (Number.isFinite(fromNs)) ends.push({ ...later, fromNs });
    return ends;
  }
}

/** Losses that the server may not know of yet. */
const SAID_BY_HOLDER = new Set(['expired', 'unreachable', 'suspended', 'maxHold', 'closed']);

/** When the last operation that must take effect has ended. */
function mustEndNs({ operations }: Part): number {
  return Math.max(0, ...operations.map(({ isOptional, toNs }) => (isOptional ? 0 : toNs)));
}

function entryOf({ invoke }: Call, hold: HoldStory | undefined): Entry {
  const { proc, call, party, permits = 1, kind } = invoke;
  const name = hold?.id ?? `${proc}#${call ?? invoke.atNs}`;
  return {
    hold: name,
    party: party === undefined ? name : `${proc} ${party}`,
    side: kind === 'read' ? 'read' : 'write',
    permits,
    token: hold?.token,
  };
}

/** The model of a key by its kind; undefined if there is none: the models do not cover queues. */
function modelOf({ calls, sets, holds }: KeyDigest, atNs: number): Model | undefined {
  const [first] = calls.acquire;
  if (first === undefined) return undefined;
  const hasParties = holds.some(({ id, party }) => party !== id);
  switch (first.invoke.kind ?? 'lock') {
    case 'lock':
      return hasParties ? reentrant : mutex;
    case 'fenced':
      return hasParties ? reentrantFenced : fenced;
    case 'read':
    case 'write':
      return readWrite;
    case 'semaphore':
    case 'permit': {
      const permits = sets.findLast((set) => set.atNs <= atNs)?.permits;
      return permits === undefined ? undefined : semaphore(permits);
    }
    default:
      return undefined;
  }
}
