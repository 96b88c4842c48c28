/**
 * Listens to the server's stream and connects again when it ends. The browser's own way of connecting again gives up
 * after an error of HTTP, and does not notice a connection that is silent forever.
 */
import type { StreamEvents } from '../../dashboard/protocol.ts';
import type { Told } from './state.ts';
import { chartStepMs, dispatch } from './store.ts';

const NAMES: readonly (keyof StreamEvents)[] = ['hello', 'locks', 'health', 'happened', 'point', 'load'];

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** A point of the charts comes with every step, so a stream that misses some is dead. */
const STEPS_MISSED = 3;

let source: EventSource | null = null;
let pauseMs = FIRST_PAUSE_MS;
let nextTry: ReturnType<typeof setTimeout> | undefined;
let silence: ReturnType<typeof setTimeout> | undefined;

/** Connects now, whatever the state of the connection is. */
export function connect(): void {
  clearTimeout(nextTry);
  source?.close();
  const opened = new EventSource('api/stream');
  source = opened;
  for (const name of NAMES) {
    opened.addEventListener(name, (event: MessageEvent<string>) => {
      pauseMs = FIRST_PAUSE_MS;
      awaitNext();
      dispatch({ type: name, data: JSON.parse(event.data), at: Date.now() } as Told & { at: number });
    });
  }
  opened.addEventListener('error', () => {
    if (opened === source) void reconnect(opened.readyState === EventSource.CLOSED);
  });
  awaitNext();
}

function awaitNext(): void {
  clearTimeout(silence);
  silence = setTimeout(() => void reconnect(false), STEPS_MISSED * chartStepMs.peek());
}

/** @param wasAnswered the server answered with something else than a stream */
async function reconnect(wasAnswered: boolean): Promise<void> {
  source?.close();
  source = null;
  clearTimeout(silence);
  clearTimeout(nextTry);
  dispatch({ type: wasAnswered && (await isRefused()) ? 'refused' : 'lost', at: Date.now() });
  nextTry = setTimeout(connect, pauseMs * (0.75 + Math.random() / 2));
  pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
}

/** A stream does not tell its status; another request does. */
async function isRefused(): Promise<boolean> {
  try {
    const { status } = await fetch('api/lock?name=', { cache: 'no-store' });
    return status === 401 || status === 403;
  } catch {
    return false;
  }
}
