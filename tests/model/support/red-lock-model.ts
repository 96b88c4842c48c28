/**
 * A plain model of a red lock: what stands on each server, who entered there how often, and what each hold of the
 * whole knows of it. Asking the real one, and comparing, is left to `red-lock.test.ts`.
 */

/** One entry of a stay: by a hold of the whole, or by itself. */
export interface Entry {
  /** Its client has heard that what it stands on is lost. */
  told: boolean;
  /** What giving it back answered; undefined while it lasts. */
  answer?: boolean;
}

/** What one owner has on one server. */
export interface Stay {
  readonly entries: Entry[];
  /** On the server it is gone. */
  lost: boolean;
}

/** A hold of the whole, made of an entry on each server that granted it. */
export interface Group {
  readonly who: string;
  readonly entries: readonly Entry[];
  /** Its signal has aborted. */
  isLost: boolean;
  /** It was given back, and hears no more. */
  isOver: boolean;
}

/** One server. */
export interface Place {
  /** The key is somebody else's, who knows nothing of red locks. */
  foreign: boolean;
  readonly stays: Map<string, Stay>;
}

/** Granted by these servers; busy; or lost, and to be given back first. */
export type Verdict = readonly number[] | null | 'ERR_LEASE_LOST';

/** Who is inside on the server; undefined also when it is somebody foreign. */
export function insideOf({ stays }: Place): string | undefined {
  return [...stays].find(([, { lost }]) => !lost)?.[0];
}

export function isFree(place: Place): boolean {
  return !place.foreign && insideOf(place) === undefined;
}

export class RedLockModel {
  readonly places: readonly Place[];
  readonly needed: number;
  readonly groups: Group[] = [];
  /** A key was removed under its holder, who may not know: two may then believe that they hold. */
  isSpoiled = false;

  constructor(size: number) {
    this.places = Array.from({ length: size }, () => ({ foreign: false, stays: new Map() }));
    this.needed = Math.floor(size / 2) + 1;
  }

  get isLocked(): boolean {
    return this.places.filter(isFree).length < this.needed;
  }

  holdCount(who: string): number {
    const counts = this.places.map(({ stays }) => {
      const stay = stays.get(who);
      return stay === undefined || stay.lost ? 0 : stay.entries.length;
    });
    return counts.sort((a, b) => b - a)[this.needed - 1] as number;
  }

  vote(who: string, place: Place): 'held' | 'busy' | 'lost' {
    const stay = place.stays.get(who);
    if (stay !== undefined) return stay.lost ? 'lost' : 'held';
    return isFree(place) ? 'held' : 'busy';
  }

  /** What all servers together say. Who asks hears of what is lost. */
  quorumRound(who: string): Verdict {
    const votes = this.places.map((place) => this.vote(who, place));
    for (const { stays } of this.places) {
      const stay = stays.get(who);
      if (stay?.lost) this.tell(stay);
    }
    const granted = [...votes.keys()].filter((i) => votes[i] === 'held');
    if (granted.length >= this.needed) return granted;
    const lost = votes.filter((vote) => vote === 'lost').length;
    return lost > this.places.length - this.needed ? 'ERR_LEASE_LOST' : null;
  }

  enter(who: string, place: Place): Entry {
    const entry: Entry = { told: false };
    const stay = place.stays.get(who) ?? { entries: [], lost: false };
    stay.entries.push(entry);
    place.stays.set(who, stay);
    return entry;
  }

  /** Answers whether it was held until now. */
  leave(who: string, place: Place, entry: Entry): boolean {
    const stay = place.stays.get(who) as Stay;
    stay.entries.splice(stay.entries.indexOf(entry), 1);
    entry.answer = !stay.lost;
    if (stay.entries.length === 0) place.stays.delete(who);
    else if (stay.lost) this.tell(stay);
    return entry.answer;
  }

  /** A hold is given back: whatever of it is still inside. */
  giveBack(group: Group): boolean {
    group.isOver = true;
    for (const place of this.places) {
      const entry = place.stays.get(group.who)?.entries.find((each) => group.entries.includes(each));
      if (entry !== undefined) this.leave(group.who, place, entry);
    }
    return !group.isLost && group.entries.filter(({ answer }) => answer).length >= this.needed;
  }

  /** The key is gone, whoever had it. */
  free(place: Place): void {
    place.foreign = false;
    for (const stay of place.stays.values()) {
      if (!stay.lost) this.isSpoiled = true;
      stay.lost = true;
    }
  }

  /** The client hears that the stay is lost, and with it the holds that have too little left. */
  tell({ entries }: Stay): void {
    for (const entry of entries) entry.told = true;
    for (const group of this.groups) {
      const left = group.entries.filter(({ told }) => !told).length;
      if (!group.isOver && left < this.needed) group.isLost = true;
    }
  }

  isHeld({ entries, isOver, isLost }: Group): boolean {
    const inside = entries.filter(({ told, answer }) => !told && answer === undefined);
    return !isOver && !isLost && inside.length >= this.needed;
  }
}
