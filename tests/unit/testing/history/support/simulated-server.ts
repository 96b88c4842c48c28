/** A lock, or permits, on a server in simulated time: leases, tokens, and messages to those that wait. */
import type { Agenda } from './simulated-time.ts';

export const LEASE_MS = 400;

interface Tenant {
  readonly owner: string;
  readonly permits: number;
  expiresAt: number;
}

export class SimulatedServer {
  readonly #agenda: Agenda;
  readonly #permits: number;
  readonly #leaseMs: number;
  readonly #waiting = new Set<() => void>();
  #tenants: Tenant[] = [];
  #token = 0;

  /** @param permits without them it is a lock, with a lease */
  constructor(agenda: Agenda, permits: number | undefined) {
    this.#agenda = agenda;
    this.#permits = permits ?? 1;
    this.#leaseMs = permits === undefined ? LEASE_MS : Number.POSITIVE_INFINITY;
  }

  get owners(): readonly string[] {
    return this.#tenants.map(({ owner }) => owner);
  }

  /** Answers the token, or undefined when too little is free. */
  take(owner: string, permits: number): number | undefined {
    this.#tenants = this.#tenants.filter(({ expiresAt }) => expiresAt > this.#agenda.now);
    const taken = this.#tenants.reduce((sum, tenant) => sum + tenant.permits, 0);
    if (taken + permits > this.#permits) return undefined;
    this.#tenants.push({ owner, permits, expiresAt: this.#agenda.now + this.#leaseMs });
    this.#token += 1;
    return this.#token;
  }

  giveBack(owner: string): boolean {
    const { now } = this.#agenda;
    const isReleased = this.#tenants.some((tenant) => tenant.owner === owner && tenant.expiresAt > now);
    if (isReleased) this.remove([owner]);
    return isReleased;
  }

  renew(owner: string): boolean {
    const { now } = this.#agenda;
    const tenant = this.#tenants.find((each) => each.owner === owner && each.expiresAt > now);
    if (tenant !== undefined) tenant.expiresAt = now + this.#leaseMs;
    return tenant !== undefined;
  }

  /** Ends what these owners have. */
  remove(owners: readonly string[]): void {
    this.#tenants = this.#tenants.filter(({ owner }) => !owners.includes(owner));
    const [wake] = this.#waiting;
    if (wake === undefined) return;
    this.#waiting.delete(wake);
    this.#agenda.at(this.#agenda.now + 1, wake);
  }

  listen(wake: () => void): void {
    this.#waiting.add(wake);
  }

  stopListening(wake: () => void): void {
    this.#waiting.delete(wake);
  }
}
