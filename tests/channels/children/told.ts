/** Publishes a message of every kind, with line breaks and control characters wherever a message has text of others. */
import {
  acquireChannel,
  holdChannel,
  releaseChannel,
  renewChannel,
  tellEvent,
  tellWake,
} from '../../../src/channels.ts';
import { debugIfAsked } from '../../../src/telemetry/debug.ts';

debugIfAsked();

const clientId = 'me';
const label = 'billing';
const name = 'a\nb\u2028c';
const owner = 'o\r\np';
const error = new Error('first\nsecond \u001b[31mred\u009b');
const subject = { clientId, label, kind: 'lock', name } as const;
const asked = { ...subject, permits: undefined, isMember: false };
const failed = {
  ...asked,
  outcome: 'failed',
  waitedMs: 1.26,
  attempts: 2,
  contended: true,
  owner,
  error,
} as const;
const held = { ...subject, owner, token: undefined, isMember: false, acquire: failed };

acquireChannel.start.publish(asked);
acquireChannel.asyncEnd.publish(failed);
holdChannel.asyncEnd.publish({ ...held, ended: 'lost', reason: 'forced', heldMs: 2 });
holdChannel.asyncEnd.publish({ ...held, owner: undefined, ended: 'released', heldMs: 2 });
releaseChannel.asyncEnd.publish({ ...subject, owner, permits: undefined, outcome: 'failed', error });
releaseChannel.asyncEnd.publish({ ...subject, owner: undefined, permits: 1, outcome: 'released' });
renewChannel.asyncEnd.publish({ clientId, label, holds: 3, gone: 1 });
renewChannel.asyncEnd.publish({ clientId, label, holds: 3, error });
tellWake(clientId, 'subscribed', `channel:{${name}}`);
tellEvent(clientId, 'lost', { ...subject, owner, reason: 'expired' });
tellEvent(clientId, 'atRisk', { ...subject, owner, remainingMs: 3, error });
tellEvent(clientId, 'stalled', { lateMs: 4 });
tellEvent(clientId, 'warning', { code: 'HOLDFAST_DISK', message: 'full\ndisk' });
tellEvent(clientId, 'error', { error: 'thrown\ntext', during: `release "${name}"` });
