/**
 * `NODE_DEBUG=holdfast`: one line on stderr for each operation, wake-up and event of every client of the process.
 */
import { debuglog } from 'node:util';
import {
  type AcquireMessage,
  acquireChannel,
  type EventMessage,
  eventChannels,
  type HoldMessage,
  holdChannel,
  type ReleaseMessage,
  type RenewMessage,
  releaseChannel,
  renewChannel,
  type Subject,
  type WakeMessage,
  wakeChannel,
} from '../channels.ts';
import { sharedByCopies } from '../package-copies.ts';

/** Control and format characters, which may break the line, move the cursor or change colours. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Names, owners, errors and warnings have text of others. */
function onOneLine(text: string): string {
  return text
    .replace(/\r?\n/g, '\\n')
    .replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function nameOf({ kind, name }: Pick<Subject, 'kind' | 'name'>): string {
  return `${kind} ${JSON.stringify(name)}`;
}

function ms(time = 0): string {
  return `${Math.round(time * 10) / 10} ms`;
}

function why(error: unknown): string {
  return error === undefined ? '' : `: ${error instanceof Error ? error.message : String(error)}`;
}

function asked(message: AcquireMessage): string {
  return `acquire ${nameOf(message)}: client ${message.clientId} asks`;
}

function acquired(message: AcquireMessage): string {
  const { outcome, owner, waitedMs, attempts, contended, error } = message;
  const to = owner === undefined ? '' : ` to ${owner}`;
  const when = `after ${ms(waitedMs)}, attempts: ${attempts}${contended ? ', contended' : ''}`;
  return `acquire ${nameOf(message)}: ${outcome}${to} ${when}${why(error)}`;
}

function held(message: HoldMessage): string {
  const { ended, reason, owner, heldMs } = message;
  const because = reason === undefined ? '' : ` (${reason})`;
  const by = owner === undefined ? '' : ` by ${owner}`;
  return `hold ${nameOf(message)}: ${ended}${because}${by} after ${ms(heldMs)}`;
}

function released(message: ReleaseMessage): string {
  const { outcome, owner, error } = message;
  return `release ${nameOf(message)}: ${outcome}${owner === undefined ? '' : ` by ${owner}`}${why(error)}`;
}

function renewed({ holds, gone, error }: RenewMessage): string {
  return `renew: holds: ${holds}${gone === undefined ? ', failed' : `, gone: ${gone}`}${why(error)}`;
}

/** Begins with the first client, if `NODE_DEBUG` names holdfast; once, however many copies of the package there are. */
export function debugIfAsked(): void {
  const log = debuglog('holdfast');
  if (!log.enabled) return;
  sharedByCopies('holdfast.debug', () => {
    const tell = (line: string) => log('%s', onOneLine(line));
    acquireChannel.start.subscribe((message) => tell(asked(message as AcquireMessage)));
    acquireChannel.asyncEnd.subscribe((message) => tell(acquired(message as AcquireMessage)));
    holdChannel.asyncEnd.subscribe((message) => tell(held(message as HoldMessage)));
    releaseChannel.asyncEnd.subscribe((message) => tell(released(message as ReleaseMessage)));
    renewChannel.asyncEnd.subscribe((message) => tell(renewed(message as RenewMessage)));
    wakeChannel.subscribe((message) => {
      const { by, source } = message as WakeMessage;
      tell(`wake: ${by} ${source}`);
    });
    const { lost, atRisk, stalled, warning, error: failed } = eventChannels;
    lost.subscribe((message) => {
      const event = message as EventMessage<'lost'>;
      tell(`lost ${nameOf(event)}: by ${event.owner} (${event.reason})`);
    });
    atRisk.subscribe((message) => {
      const event = message as EventMessage<'atRisk'>;
      tell(`atRisk ${nameOf(event)}: of ${event.owner}, left: ${ms(event.remainingMs)}${why(event.error)}`);
    });
    stalled.subscribe((message) => tell(`stalled: for ${ms((message as EventMessage<'stalled'>).lateMs)}`));
    warning.subscribe((message) => {
      const { code, message: text } = message as EventMessage<'warning'>;
      tell(`warning ${code}: ${text}`);
    });
    failed.subscribe((message) => {
      const { during, error } = message as EventMessage<'error'>;
      tell(`error: ${during}${why(error)}`);
    });
    return true;
  });
}
