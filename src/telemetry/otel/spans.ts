/**
 * The spans: one for each call that acquires, for each hold, and for each release that is sent.
 *
 * A call's span is a child of the caller's. A hold begins when its call ends, and may outlast the caller's span, so it is
 * the call's sibling, with a link to it.
 */
import {
  type Attributes,
  type Context,
  context,
  type Exception,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import type { AcquireMessage, EventMessage, HoldMessage, ReleaseMessage, Subject } from '../../channels.ts';
import { Subscriptions } from '../subscriptions.ts';
import { attributesOf, errorType } from './attributes.ts';
import { OpenHolds } from './open-holds.ts';

/** A call's span, and the context in which its caller made it. */
interface Call {
  readonly span: Span;
  readonly from: Context;
}

export class Spans {
  readonly #subscriptions = new Subscriptions();
  /** Holds refer to calls that have ended. */
  readonly #calls = new WeakMap<AcquireMessage, Call>();
  readonly #open = new Map<object, Span>();
  readonly #openHolds = new OpenHolds();
  #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** From now on, spans are begun with another tracer. */
  use(tracer: Tracer): void {
    this.#tracer = tracer;
  }

  start(): void {
    this.#subscriptions
      .on('tracing:holdfast:acquire:start', (call) => this.#called(call))
      .on('tracing:holdfast:acquire:asyncEnd', (call) => this.#answered(call))
      .on('tracing:holdfast:hold:start', (hold) => this.#granted(hold))
      .on('tracing:holdfast:hold:asyncEnd', (hold) => this.#held(hold))
      .on('tracing:holdfast:release:start', (release) => this.#releasing(release))
      .on('tracing:holdfast:release:asyncEnd', (release) => this.#released(release))
      .on('holdfast:atRisk', (event) => this.#atRisk(event));
  }

  /** Ends the spans that are open: nobody would hear of their end. */
  stop(): void {
    this.#subscriptions.end();
    for (const span of this.#open.values()) span.addEvent('holdfast.unobserved').end();
    this.#open.clear();
    this.#openHolds.clear();
  }

  #begin(
    name: string,
    subject: Subject,
    from: Context,
    attributes: Attributes = {},
    links: Link[] = [],
  ): Span {
    const options = { attributes: given({ ...attributesOf(subject), ...attributes }), links };
    const span = this.#tracer.startSpan(name, options, from);
    this.#open.set(subject, span);
    return span;
  }

  /** The span of a message, which is then no longer open; undefined if nobody listened when it began. */
  #take(message: object): Span | undefined {
    const span = this.#open.get(message);
    this.#open.delete(message);
    return span;
  }

  #called(call: AcquireMessage): void {
    const from = context.active();
    this.#calls.set(call, { span: this.#begin('holdfast.acquire', call, from, member(call)), from });
  }

  #answered(call: AcquireMessage): void {
    const { outcome, attempts, contended, owner, token, error } = call;
    const span = this.#take(call)?.setAttributes(
      given({
        'holdfast.outcome': outcome,
        'holdfast.attempts': attempts,
        'holdfast.contended': contended,
        'holdfast.owner': owner,
        'holdfast.token': token,
      }),
    );
    // A caller that is refused in time, or gives up, expects that. It is no failure.
    if (outcome === 'failed') fail(span, error);
    span?.end();
  }

  #granted(hold: HoldMessage): void {
    const call = hold.acquire && this.#calls.get(hold.acquire);
    const attributes = { 'holdfast.owner': hold.owner, 'holdfast.token': hold.token, ...member(hold) };
    const links = call === undefined ? [] : [{ context: call.span.spanContext() }];
    // The grant may be heard in the context of another caller, whose release made way.
    this.#begin('holdfast.hold', hold, call?.from ?? ROOT_CONTEXT, attributes, links);
    this.#openHolds.add(hold);
  }

  #held(hold: HoldMessage): void {
    this.#openHolds.delete(hold);
    const span = this.#take(hold);
    const { ended = 'released', reason } = hold;
    span?.setAttribute('holdfast.ended', ended);
    if (reason !== undefined) {
      span?.setAttribute('holdfast.loss.reason', reason);
      span?.addEvent('holdfast.lost', { 'holdfast.loss.reason': reason });
      span?.setStatus({ code: SpanStatusCode.ERROR, message: `lost: ${reason}` });
    }
    span?.end();
  }

  #releasing(release: ReleaseMessage): void {
    const links = [...this.#openHolds.of(release)].flatMap((hold) => {
      const span = this.#open.get(hold);
      return span === undefined ? [] : [{ context: span.spanContext() }];
    });
    this.#begin('holdfast.release', release, context.active(), { 'holdfast.owner': release.owner }, links);
  }

  #released(release: ReleaseMessage): void {
    const { outcome, error } = release;
    const span = this.#take(release)?.setAttributes(given({ 'holdfast.outcome': outcome }));
    if (outcome === 'failed') fail(span, error);
    span?.end();
  }

  #atRisk(event: EventMessage<'atRisk'>): void {
    for (const hold of this.#openHolds.of(event)) {
      this.#open.get(hold)?.addEvent('holdfast.at_risk', {
        'holdfast.remaining': event.remainingMs / 1000,
        'error.type': errorType(event.error),
      });
    }
  }
}

/** Only those that a multi lock or red lock takes say so. */
function member({ isMember }: { readonly isMember: boolean }): Attributes {
  return isMember ? { 'holdfast.member': true } : {};
}

/** The attributes that have a value. */
function given(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function fail(span: Span | undefined, error: unknown): void {
  if (span === undefined) return;
  const message = error instanceof Error ? error.message : String(error);
  span.setAttribute('error.type', errorType(error));
  span.recordException(error instanceof Error ? (error as Exception) : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
