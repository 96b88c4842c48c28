/**
 * Matches the replies of a server to the requests of its client, on one connection.
 *
 * Replies come in the order of the requests; messages to subscribers come in between and belong to no request.
 */
import { type Frame, RawError, type RawReply } from './resp.ts';

const SUBSCRIPTION = /^[ps]?(un)?subscribe$/i;
const MESSAGE = /^[ps]?message$/;

interface Awaited<Tag> {
  readonly tag: Tag;
  repliesLeft: number;
}

/** The role of a frame from the server: a message, or a part or the end of the reply to a request. */
interface Sorted<Tag> {
  readonly tag: Tag | undefined;
  readonly completesReply: boolean;
}

export class ReplyTracker<Tag> {
  readonly #awaited: Awaited<Tag>[] = [];
  #hasSubscribed = false;

  request(args: readonly RawReply[], tag: Tag): void {
    const isSubscription = SUBSCRIPTION.test(String(args[0]));
    if (isSubscription) this.#hasSubscribed = true;
    // SUBSCRIBE and related commands are answered once per channel.
    this.#awaited.push({ tag, repliesLeft: isSubscription ? Math.max(1, args.length - 1) : 1 });
  }

  sort(frame: Frame): Sorted<Tag> {
    const awaited = this.#isPush(frame) ? undefined : this.#awaited[0];
    if (awaited === undefined) return { tag: undefined, completesReply: false };
    awaited.repliesLeft -= 1;
    const completesReply = awaited.repliesLeft === 0 || frame.value instanceof RawError;
    if (completesReply) this.#awaited.shift();
    return { tag: awaited.tag, completesReply };
  }

  #isPush({ type, value }: Frame): boolean {
    if (!Array.isArray(value)) return false;
    const kind = String(value[0]);
    // RESP3 marks pushes, and sends confirmations of subscriptions as pushes. In RESP2 a message is an ordinary array,
    // but only a connection that subscribed can receive one.
    return type === '>' ? !SUBSCRIPTION.test(kind) : this.#hasSubscribed && MESSAGE.test(kind);
  }
}
