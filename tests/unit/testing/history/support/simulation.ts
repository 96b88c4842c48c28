/**
 * A lock service and its users in simulated time, as a source of histories: leases, renewals, waiters, replies that get
 * lost, processes that stop and die, data that vanishes. What it does is allowed, unless a defect is planted in it.
 *
 * Times are milliseconds. Nothing in it knows the checker.
 */
import type { HistoryEvent } from '../../../../../src/testing/history/event.ts';
import { LEASE_MS, SimulatedServer } from './simulated-server.ts';
import { Agenda, Dice, Proc } from './simulated-time.ts';

export type Defect =
  | 'deadline from the reply'
  | 'release without an owner check'
  | 'tokens that start again'
  | 'refuses a free lock'
  | 'forgets waiters'
  | 'tells late'
  | 'tells for nothing'
  | 'releases after a loss'
  | 'never answers';

export interface Weather {
  readonly seed: number;
  readonly permits?: number;
  readonly stalls?: boolean;
  readonly deaths?: boolean;
  readonly lostReplies?: boolean;
  readonly flushes?: boolean;
  readonly forces?: boolean;
  readonly defect?: Defect;
}

const KEY = 'simulated';
const END_MS = 12_000;
const LOOK_MS = 10;

/** What a hold is to its holder. */
interface Held {
  readonly id: string;
  readonly owner: string;
  readonly permits: number;
  deadline: number;
  state: 'held' | 'lost' | 'over';
}

/** Runs one history to its end. */
export function simulate(weather: Weather): HistoryEvent[] {
  return new Simulation(weather).run();
}

/** What an acquisition is, as its events tell it. */
type Asked = Partial<HistoryEvent> & { readonly worker: string; readonly permits: number };

class Simulation {
  readonly #weather: Weather;
  readonly #agenda = new Agenda();
  readonly #dice: Dice;
  readonly #server: SimulatedServer;
  readonly #events: HistoryEvent[] = [];
  #numbers = 0;

  constructor(weather: Weather) {
    this.#weather = weather;
    this.#dice = new Dice(weather.seed);
    this.#server = new SimulatedServer(this.#agenda, weather.permits);
  }

  run(): HistoryEvent[] {
    const { permits, stalls, deaths, flushes, forces } = this.#weather;
    if (permits !== undefined) this.#note(new Proc(this.#agenda, 'witness'), 'set', 'info', { permits });
    const procs = ['a', 'b', 'c'].map((name) => new Proc(this.#agenda, name));
    for (const proc of procs) {
      for (const worker of ['1', '2', '3'])
        proc.at(this.#dice.between(0, 50), () => this.#visit(proc, worker));
    }
    const nemesis = new Proc(this.#agenda, 'nemesis');
    for (let at = 700; at < END_MS; at += 700) {
      const victim = procs[Math.floor(this.#dice.next() * procs.length)] as Proc;
      if (stalls) this.#agenda.at(at, () => this.#stall(victim));
      if (deaths && at % 2_100 === 0) this.#agenda.at(at + 30, () => this.#kill(victim));
      if (flushes && at % 1_400 === 0) this.#agenda.at(at + 60, () => this.#flush(nemesis));
      if (forces && at % 1_400 === 0) this.#agenda.at(at + 90, () => this.#force(nemesis));
    }
    this.#agenda.run();
    return this.#events;
  }

  get #now(): number {
    return this.#agenda.now;
  }

  #has(defect: Defect): boolean {
    return this.#weather.defect === defect && this.#dice.chance(0.3);
  }

  #note(
    { name: proc }: Proc,
    op: HistoryEvent['op'],
    type: HistoryEvent['type'],
    about: Partial<HistoryEvent> = {},
  ): void {
    this.#agenda.now += 0.001;
    this.#events.push({ proc, worker: '', key: KEY, op, type, atNs: Math.round(this.#now * 1e6), ...about });
  }

  #number(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  #stall(proc: Proc): void {
    if (proc.isDead || this.#now < proc.stalledUntil) return;
    const fromNs = Math.round((this.#now - LOOK_MS) * 1e6);
    proc.stalledUntil = this.#now + this.#dice.between(40, 2 * LEASE_MS);
    this.#agenda.at(proc.stalledUntil, () => {
      if (!proc.isDead) this.#note(proc, 'stalled', 'info', { key: '', fromNs });
    });
  }

  #kill(proc: Proc): void {
    if (proc.isDead || proc.name === 'a') return;
    proc.isDead = true;
    this.#note(proc, 'died', 'info', { key: '' });
  }

  #flush(nemesis: Proc): void {
    const what = { what: 'flush', key: '', removesHolds: true };
    this.#note(nemesis, 'fault', 'invoke', what);
    this.#server.remove(this.#server.owners);
    this.#note(nemesis, 'fault', 'ok', what);
  }

  #force(nemesis: Proc): void {
    const call = this.#number();
    this.#note(nemesis, 'force', 'invoke', { call });
    const victims = this.#server.owners;
    this.#agenda.at(this.#now + this.#dice.between(1, 20), () => {
      this.#server.remove(victims);
      this.#agenda.at(this.#now + 1, () => this.#note(nemesis, 'force', 'ok', { call }));
    });
  }

  #take(owner: string, permits: number): number | undefined {
    if (this.#has('refuses a free lock')) return undefined;
    const token = this.#server.take(owner, permits);
    return token !== undefined && this.#has('tokens that start again') ? 1 : token;
  }

  #giveBack(owner: string): boolean {
    if (this.#has('release without an owner check')) this.#server.remove(this.#server.owners);
    return this.#server.giveBack(owner);
  }

  #visit(proc: Proc, worker: string): void {
    if (this.#now > END_MS) return;
    const call = this.#number();
    const waitMs = this.#dice.chance(0.4) ? 0 : this.#dice.between(50, 600);
    const permits = this.#weather.permits === undefined ? 1 : 1 + Math.floor(this.#dice.next() * 2);
    const kind = this.#weather.permits === undefined ? 'fenced' : 'semaphore';
    const about = { worker, call, kind, permits, waitMs } as const;
    this.#note(proc, 'acquire', 'invoke', about);
    this.#attempt(proc, about, `${proc.name}:${call}`, this.#now + waitMs);
  }

  #again(proc: Proc, worker: string): void {
    proc.at(this.#now + this.#dice.between(0, 40), () => this.#visit(proc, worker));
  }

  #attempt(proc: Proc, about: Asked, owner: string, until: number) {
    const sentAt = this.#now;
    this.#agenda.at(this.#now + this.#dice.between(0.2, 8), () => {
      const token = this.#take(owner, about.permits);
      const isReplyLost = this.#weather.lostReplies === true && this.#dice.chance(0.05);
      if (isReplyLost) {
        proc.at(this.#now + 100, () => {
          this.#note(proc, 'acquire', 'info', { ...about, what: 'ERR_OUTCOME_UNKNOWN' });
          proc.at(this.#now + this.#dice.between(1, 100), () => this.#giveBack(owner));
          this.#again(proc, about.worker);
        });
        return;
      }
      proc.at(this.#now + this.#dice.between(0.2, 8), () => {
        if (token !== undefined) this.#granted(proc, about, owner, token, sentAt);
        else if (this.#now < until) this.#wait(proc, about, owner, until);
        else {
          if (this.#has('never answers')) return;
          this.#note(proc, 'acquire', 'fail', about);
          this.#again(proc, about.worker);
        }
      });
    });
  }

  #wait(proc: Proc, about: Asked, owner: string, until: number) {
    let isAwake = false;
    const wake = () => {
      if (isAwake) return;
      isAwake = true;
      this.#server.stopListening(wake);
      proc.at(this.#now, () => this.#attempt(proc, about, owner, until));
    };
    const isForgotten = this.#weather.defect === 'forgets waiters' && this.#dice.chance(0.1);
    if (!isForgotten) this.#server.listen(wake);
    const pollMs = isForgotten ? 5_000 : 60;
    this.#agenda.at(isForgotten ? this.#now + pollMs : Math.min(this.#now + pollMs, until), wake);
  }

  #granted(proc: Proc, { worker, ...about }: Asked, owner: string, token: number, sentAt: number): void {
    const hasLease = this.#weather.permits === undefined;
    const since = this.#weather.defect === 'deadline from the reply' ? this.#now + 40 : sentAt;
    const deadline = hasLease ? deadlineFrom(since) : Number.POSITIVE_INFINITY;
    if (this.#now >= deadline) {
      this.#note(proc, 'acquire', 'info', { ...about, worker, what: 'ERR_LEASE_LOST' });
      proc.at(this.#now + 1, () => this.#giveBack(owner));
      this.#again(proc, worker);
      return;
    }
    const held: Held = {
      id: `${proc.name}/${this.#number()}`,
      owner,
      permits: about.permits,
      deadline,
      state: 'held',
    };
    const lease = hasLease ? { deadlineNs: deadline * 1e6, owner, token } : {};
    this.#note(proc, 'acquire', 'ok', { ...about, worker, hold: held.id, ...lease });
    if (hasLease) this.#keep(proc, worker, held);
    const holdsMs = this.#dice.chance(0.1) ? this.#dice.between(0, 3 * LEASE_MS) : this.#dice.between(0, 60);
    proc.at(this.#now + holdsMs, () => this.#leave(proc, worker, held));
  }

  #keep(proc: Proc, worker: string, held: Held): void {
    const watch = () => {
      if (held.state !== 'held') return;
      if (this.#now < held.deadline) proc.at(held.deadline, watch);
      else this.#lose(proc, worker, held, 'expired');
    };
    const lateMs = this.#has('tells late') ? 120 : 0;
    proc.at(held.deadline + lateMs, watch);
    if (this.#has('tells for nothing'))
      proc.at(this.#now + 20, () => this.#lose(proc, worker, held, 'notOwner'));
    if (this.#dice.chance(0.5) && lateMs === 0) this.#renewLater(proc, worker, held);
  }

  #renewLater(proc: Proc, worker: string, held: Held): void {
    proc.at(this.#now + LEASE_MS / 3, () => {
      if (held.state !== 'held') return;
      const sentAt = this.#now;
      this.#agenda.at(this.#now + this.#dice.between(0.2, 8), () => {
        const isHeld = this.#server.renew(held.owner);
        proc.at(this.#now + this.#dice.between(0.2, 8), () => {
          if (held.state !== 'held' || this.#now >= held.deadline) return;
          if (!isHeld) return this.#lose(proc, worker, held, 'notOwner');
          held.deadline = deadlineFrom(sentAt);
          proc.at(this.#now + this.#dice.between(0, LOOK_MS), () => {
            if (held.state !== 'held') return;
            const about = { worker, kind: 'fenced', hold: held.id, deadlineNs: held.deadline * 1e6 } as const;
            this.#note(proc, 'held', 'info', about);
          });
          this.#renewLater(proc, worker, held);
        });
      });
    });
  }

  #lose(proc: Proc, worker: string, held: Held, what: string): void {
    if (held.state !== 'held') return;
    held.state = 'lost';
    this.#note(proc, 'lost', 'info', { worker, hold: held.id, what });
  }

  #leave(proc: Proc, worker: string, held: Held): void {
    if (held.state === 'held' && this.#now >= held.deadline && this.#weather.defect !== 'tells late') {
      this.#lose(proc, worker, held, 'expired');
    }
    const wasLost = held.state === 'lost';
    held.state = 'over';
    const call = this.#number();
    const about = { worker, call, hold: held.id, permits: held.permits };
    this.#note(proc, 'release', 'invoke', about);
    this.#agenda.at(this.#now + this.#dice.between(0.2, 8), () => {
      const isReleased = this.#giveBack(held.owner);
      const isUnheard = this.#weather.lostReplies === true && this.#dice.chance(0.05);
      proc.at(this.#now + this.#dice.between(0.2, 8), () => {
        const isOk = wasLost ? this.#has('releases after a loss') : isReleased;
        this.#note(proc, 'release', isUnheard ? 'info' : isOk ? 'ok' : 'fail', about);
        this.#again(proc, worker);
      });
    });
  }
}

/** The holder's deadline is earlier than the server's, whatever the way there takes. */
function deadlineFrom(sentAt: number): number {
  return sentAt + LEASE_MS * 0.99 - 52;
}
