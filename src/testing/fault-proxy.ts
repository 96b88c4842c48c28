/**
 * A TCP proxy in front of a server. A test switches its faults on and off at run time.
 *
 * Network faults (black hole, refusal, delay, fragments) last until `heal()`; faults of a single request
 * (`holdRequest`, `swallowReply`) last until one request has matched. `proxy-link.ts` handles the bytes of one
 * connection.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { findFreePort, LOOPBACK } from '../embedded/free-port.ts';
import { ProxyLink } from './proxy-link.ts';
import { type HeldRequest, HoldRule, type RequestMatch, SwallowRule } from './proxy-rules.ts';

/** The options of `swallowReply`. */
export interface SwallowReplyOptions {
  /** What happens to the connection: reset (the default), or open and silent until `heal()`. */
  readonly after?: 'reset' | 'silence';
  /** How many replies to swallow; one by default. */
  readonly count?: number;
  /** Lifts the rule when it aborts; later replies pass. */
  readonly signal?: AbortSignal;
}

/** A running fault proxy. */
export interface FaultProxy extends AsyncDisposable {
  /** `redis://127.0.0.1:<port>`: clients connect here instead of to the server. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The number of client connections open now. */
  readonly connections: number;
  /** The number of client connections ever accepted. */
  readonly accepted: number;
  /** Accepts connections and swallows every byte in both directions, on existing connections too. */
  blackhole(): void;
  /** Silences the existing connections that have ever sent a matching request; the others continue. */
  blackholeWhere(match: RequestMatch): void;
  /** Resets every connection and refuses new ones. Resolves when the port is closed. */
  refuse(): Promise<void>;
  /** Delays everything by this much, in both directions; 0 for no delay. */
  delay(delayMs: number): void;
  /** Splits every write into pieces of this many bytes; 0 for whole writes. */
  fragment(bytes: number): void;
  /** Resets every connection now; accepts new ones. */
  dropConnections(): void;
  /**
   * Ends black hole, refusal, delay and fragments. Resets a connection that lost bytes meanwhile, because a TCP stream
   * cannot continue with a gap. Rules for single requests stay.
   */
  heal(): Promise<void>;
  /**
   * Forwards the next matching request, waits for the server's reply, which proves that the request was executed, and
   * withholds it from the client. Resolves when that has happened; rejects when the rule is lifted before.
   */
  swallowReply(match: RequestMatch, options?: SwallowReplyOptions): Promise<void>;
  /** Holds back the next matching request, and everything behind it on its connection, until released. */
  holdRequest(match: RequestMatch): HeldRequest;
  /** Drops every connection and every held request, and closes the port. Idempotent. */
  close(): Promise<void>;
}

const ATTEMPTS = 10;

class RunningProxy implements FaultProxy {
  readonly host = LOOPBACK;
  readonly pace = { delayMs: 0, fragmentBytes: 0 };
  holds: readonly HoldRule[] = [];
  swallows: readonly SwallowRule[] = [];
  readonly #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<ProxyLink>();
  #listener: Server | undefined;
  #port = 0;
  #accepted = 0;
  #isBlackhole = false;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  get url(): string {
    return `redis://${this.host}:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return [...this.#links].filter((link) => link.hasClient).length;
  }

  get accepted(): number {
    return this.#accepted;
  }

  /** Opens the port; rejects when it is taken. */
  async listen(port: number): Promise<void> {
    const listener = createServer({ pauseOnConnect: false }, (client) => this.#accept(client));
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject);
      listener.listen({ port, host: this.host, exclusive: true }, resolve);
    });
    listener.unref();
    this.#port = port;
    this.#listener = listener;
  }

  onFinished(link: ProxyLink): void {
    this.#links.delete(link);
  }

  blackhole(): void {
    this.#isBlackhole = true;
    for (const link of this.#links) link.silence();
  }

  blackholeWhere(match: RequestMatch): void {
    for (const link of this.#links) if (link.hasSent(match)) link.silence();
  }

  async refuse(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    const closed = new Promise<void>((resolve) => {
      if (listener === undefined) resolve();
      else listener.close(() => resolve());
    });
    this.dropConnections();
    await closed;
  }

  delay(delayMs: number): void {
    this.pace.delayMs = delayMs;
  }

  fragment(bytes: number): void {
    this.pace.fragmentBytes = bytes;
  }

  dropConnections(): void {
    for (const link of this.#links) link.reset();
  }

  async heal(): Promise<void> {
    this.#isBlackhole = false;
    this.pace.delayMs = 0;
    this.pace.fragmentBytes = 0;
    for (const link of this.#links) link.heal();
    if (this.#listener === undefined) await this.listen(this.#port);
  }

  swallowReply(match: RequestMatch, options: SwallowReplyOptions = {}): Promise<void> {
    const rule = new SwallowRule(match, options.after ?? 'reset', options.count ?? 1);
    // Every request is compared with every rule: finished rules would accumulate.
    this.swallows = [...this.swallows.filter(({ isOver }) => !isOver), rule];
    const lift = () => rule.abandon('lifted');
    const forget = () => options.signal?.removeEventListener('abort', lift);
    options.signal?.addEventListener('abort', lift, { once: true });
    rule.done.then(forget, forget);
    return rule.done;
  }

  holdRequest(match: RequestMatch): HeldRequest {
    const rule = new HoldRule(match);
    this.holds = [...this.holds.filter(({ isOver }) => !isOver), rule];
    return rule;
  }

  async close(): Promise<void> {
    for (const rule of this.holds) rule.abandon();
    for (const rule of this.swallows) rule.abandon('closed');
    for (const link of this.#links) link.destroy();
    await this.refuse();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(client: Socket): void {
    this.#accepted += 1;
    const { host, port } = this.#target;
    this.#links.add(new ProxyLink(client, this.#isBlackhole ? undefined : { host, port }, this));
  }
}

/**
 * Starts a fault proxy on a free port of 127.0.0.1 in front of a server. It reads the target for every connection:
 * change the target, drop the connections, and clients find another server at the same address.
 *
 * @example
 * ```ts
 * const proxy = await startFaultProxy({ host: '127.0.0.1', port: 6379 });
 * const swallowed = proxy.swallowReply('EVALSHA');
 * // … a client that talks to proxy.url runs a script …
 * await swallowed;
 * await proxy.close();
 * ```
 */
export async function startFaultProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<FaultProxy> {
  const proxy = new RunningProxy(target);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await proxy.listen(await findFreePort());
      return proxy;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
