/**
 * One client connection through the fault proxy, with its connection to the server.
 *
 * It parses passing requests and replies, so that rules can select single ones; data that is not RESP (TLS,
 * replication) passes unparsed. `fault-proxy.ts` decides which faults are active.
 */
import { connect, type Socket } from 'node:net';
import { type Pace, PacedPipe } from './paced-pipe.ts';
import { type HoldRule, matchesRequest, type RequestMatch, type SwallowRule } from './proxy-rules.ts';
import { ReplyTracker } from './reply-tracker.ts';
import { type Frame, RespStream } from './resp.ts';

/** What a link needs from its proxy. */
export interface LinkContext {
  readonly pace: Pace;
  readonly holds: readonly HoldRule[];
  readonly swallows: readonly SwallowRule[];
  /** Both ends are closed. */
  onFinished(link: ProxyLink): void;
}

/** After these commands the server sends a stream instead of replies. */
const LEAVES_PROTOCOL = /^(PSYNC|SYNC|MONITOR)$/;
const REMEMBERED_REQUESTS = 1_000;
const ASTERISK = '*'.charCodeAt(0);

export class ProxyLink {
  readonly #client: Socket;
  readonly #upstream: Socket | undefined;
  readonly #context: LinkContext;
  readonly #toServer: PacedPipe;
  readonly #toClient: PacedPipe;
  readonly #requests = new RespStream();
  readonly #replies = new RespStream();
  readonly #tracker = new ReplyTracker<SwallowRule | undefined>();
  readonly #history = new Set<string>();
  #isUnread = false;
  #isSilent: boolean;
  #hasLostBytes = false;
  /** Requests held back; null is the client's end. Undefined when nothing is held. */
  #held: (Buffer | null)[] | undefined;

  /** Without a target the link is silent from the start: a connection accepted into a black hole. */
  constructor(client: Socket, target: { host: string; port: number } | undefined, context: LinkContext) {
    this.#client = client;
    this.#context = context;
    this.#isSilent = target === undefined;
    this.#upstream = target === undefined ? undefined : connect(target);
    this.#toServer = this.#pipeTo(this.#upstream);
    this.#toClient = this.#pipeTo(client);
    this.#listen(client, (chunk) => this.#fromClient(chunk), this.#toServer);
    if (this.#upstream) this.#listen(this.#upstream, (chunk) => this.#fromServer(chunk), this.#toClient);
  }

  get hasClient(): boolean {
    return !this.#client.destroyed;
  }

  hasSent(match: RequestMatch): boolean {
    for (const text of this.#history) if (matchesRequest(text, match)) return true;
    return false;
  }

  /** From now on nothing passes in either direction, not even the end of the connection. */
  silence(): void {
    this.#isSilent = true;
  }

  /** Lets bytes pass again. Resets a link that lost bytes, because TCP cannot continue with a gap. */
  heal(): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    if (this.#hasLostBytes || this.#upstream === undefined) this.destroy();
  }

  /** Resets the client's end, and the server's end too, unless it still has a held request to deliver. */
  reset(): void {
    this.#client.resetAndDestroy();
    if (this.#held === undefined) this.#upstream?.destroy();
  }

  /** Resets the client's end and drops the server's, with all held requests. */
  destroy(): void {
    this.#held = undefined;
    this.reset();
  }

  #listen(socket: Socket, onData: (chunk: Buffer) => void, toOther: PacedPipe): void {
    socket.setNoDelay(true);
    socket.on('data', onData);
    // A close follows every error, and is enough.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#isSilent) this.#hasLostBytes = true;
      else if (socket === this.#client && this.#held !== undefined) this.#held.push(null);
      else toOther.end();
      if (this.#client.destroyed && this.#upstream?.destroyed !== false) this.#context.onFinished(this);
    });
  }

  #pipeTo(socket: Socket | undefined): PacedPipe {
    const unlessSilent = (act: () => void) => {
      if (this.#isSilent) this.#hasLostBytes = true;
      else act();
    };
    return new PacedPipe(
      this.#context.pace,
      (bytes) =>
        unlessSilent(() => {
          if (socket?.writable === true) socket.write(bytes);
        }),
      () => unlessSilent(() => socket?.end()),
    );
  }

  #forward(bytes: Buffer): void {
    if (this.#held === undefined) this.#toServer.send(bytes);
    else this.#held.push(bytes);
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const bytes of held) {
      if (bytes === null) this.#toServer.end();
      else this.#toServer.send(bytes);
    }
  }

  #fromClient(chunk: Buffer): void {
    if (this.#isSilent) {
      this.#hasLostBytes = true;
    } else if (this.#upstream?.destroyed === true) {
      this.#client.resetAndDestroy();
    } else if (this.#isUnread) {
      this.#forward(chunk);
    } else {
      this.#readRequests(chunk);
    }
  }

  #readRequests(chunk: Buffer): void {
    try {
      for (const frame of this.#requests.push(chunk)) {
        this.#onRequest(frame);
        if (this.#isUnread) return;
      }
      const [next = ASTERISK] = this.#requests.rest;
      if (next !== ASTERISK) this.#stopReading();
    } catch {
      this.#stopReading();
    }
  }

  /** From here on bytes pass unparsed, starting with those of incomplete values. */
  #stopReading(): void {
    this.#isUnread = true;
    this.#forward(this.#requests.rest);
    this.#toClient.send(this.#replies.rest);
  }

  #onRequest({ value, bytes }: Frame): void {
    const args = Array.isArray(value) ? value : [value];
    const name = String(args[0]).toUpperCase();
    const text = [name, ...args.slice(1)].join(' ');
    this.#history.add(text);
    const [oldest] = this.#history;
    if (this.#history.size > REMEMBERED_REQUESTS) this.#history.delete(oldest as string);
    const isHeld =
      this.#held === undefined && this.#context.holds.some((rule) => rule.claim(text, () => this.#release()));
    if (isHeld) this.#held = [];
    const swallow = this.#context.swallows.find((rule) => rule.claim(text));
    this.#tracker.request(args, swallow);
    this.#forward(bytes);
    if (LEAVES_PROTOCOL.test(name)) this.#stopReading();
  }

  #fromServer(chunk: Buffer): void {
    if (this.#isSilent) {
      this.#hasLostBytes = true;
    } else if (this.#isUnread) {
      this.#toClient.send(chunk);
    } else {
      this.#readReplies(chunk);
    }
  }

  #readReplies(chunk: Buffer): void {
    try {
      for (const frame of this.#replies.push(chunk)) {
        if (!this.#onReply(frame)) return;
      }
    } catch {
      this.#stopReading();
    }
  }

  /** False if the client's connection is over, so that later frames are dropped. */
  #onReply(frame: Frame): boolean {
    const { tag: swallow, completesReply } = this.#tracker.sort(frame);
    if (swallow === undefined) {
      this.#toClient.send(frame.bytes);
      return true;
    }
    if (!completesReply) return true;
    if (swallow.after === 'reset') {
      this.reset();
    } else {
      this.#hasLostBytes = true;
      this.silence();
    }
    swallow.swallowed();
    return false;
  }
}
