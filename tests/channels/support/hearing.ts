/** Listens on every channel, and notes what some clients publish there, in order. */
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import type {
  AcquireMessage,
  ClientOptions,
  EventMessage,
  HoldMessage,
  ReleaseMessage,
  RenewMessage,
  WakeMessage,
} from '../../../src/index.ts';
import { Holdfast } from '../../../src/index.ts';
import { sharedServer } from '../../harness/servers.ts';

interface Messages {
  acquire: AcquireMessage;
  hold: HoldMessage;
  release: ReleaseMessage;
  renew: RenewMessage;
  wake: WakeMessage;
  lost: EventMessage<'lost'>;
  atRisk: EventMessage<'atRisk'>;
  stalled: EventMessage<'stalled'>;
  warning: EventMessage<'warning'>;
  error: EventMessage<'error'>;
}

type Channel = keyof Messages;
type Traced = 'acquire' | 'hold' | 'release' | 'renew';
type Step = 'start' | 'end' | 'error' | 'asyncStart' | 'asyncEnd' | 'told';

interface Heard {
  readonly channel: Channel;
  readonly step: Step;
  readonly message: Messages[Channel];
}

const TRACED: readonly Traced[] = ['acquire', 'hold', 'release', 'renew'];
const STEPS = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'] as const;
const POINTS = ['wake', 'lost', 'atRisk', 'stalled', 'warning', 'error'] as const;

export class Hearing {
  readonly all: Heard[] = [];

  /** What was published, as `acquire start`; of one name if it is told. */
  steps(name?: string): string[] {
    const meant = this.all.filter(
      ({ message }) => !('name' in message) || message.name === (name ?? message.name),
    );
    return meant.map(({ channel, step }) => (step === 'told' ? channel : `${channel} ${step}`));
  }

  /** The operations of a channel, by their last step, or the messages of a channel without steps. */
  of<Name extends Channel>(channel: Name): Messages[Name][] {
    const last = this.all.filter(
      (heard) => heard.channel === channel && ['asyncEnd', 'told'].includes(heard.step),
    );
    return last.map(({ message }) => message as Messages[Name]);
  }

  /** The different objects that a channel has published. */
  objects(channel: Traced): Set<object> {
    return new Set(this.all.filter((heard) => heard.channel === channel).map(({ message }) => message));
  }
}

/** Begins to listen to these clients; ends with the test. */
export function hear(...clients: readonly Holdfast[]): Hearing {
  const ids = new Set(clients.map(({ id }) => id));
  const hearing = new Hearing();
  const listen = (name: string, channel: Channel, step: Step) => {
    const note = (published: unknown) => {
      const message = published as Messages[Channel];
      if (ids.has(message.clientId)) hearing.all.push({ channel, step, message });
    };
    subscribe(name, note);
    onTestFinished(() => {
      unsubscribe(name, note);
    });
  };
  for (const channel of TRACED) {
    const channels = tracingChannel(`holdfast:${channel}`);
    for (const step of STEPS) listen(String(channels[step].name), channel, step);
  }
  for (const channel of POINTS) listen(`holdfast:${channel}`, channel, 'told');
  return hearing;
}

/** A client of the server that all tests share, unless told; closed when the test ends. */
export async function connect(options?: ClientOptions, url = sharedServer().url): Promise<Holdfast> {
  const client = await Holdfast.connect(url, options);
  onTestFinished(() => client.close());
  return client;
}

export const ACQUIRED = ['acquire start', 'acquire end', 'acquire asyncStart', 'acquire asyncEnd'];
export const REJECTED = [
  'acquire start',
  'acquire end',
  'acquire error',
  'acquire asyncStart',
  'acquire asyncEnd',
];
export const BEGUN = ['hold start', 'hold end'];
export const OVER = ['hold asyncStart', 'hold asyncEnd'];
export const RELEASED = ['release start', 'release end', 'release asyncStart', 'release asyncEnd'];
export const RENEWED = ['renew start', 'renew end', 'renew asyncStart', 'renew asyncEnd'];
