/**
 * The test kit: real servers, a proxy that injects network faults, a recorder of what processes do with locks, and a
 * checker of the recorded history.
 *
 * @module holdfast/testing
 */
export { type EmbeddedServer, type EmbeddedServerOptions, startEmbeddedServer } from '../embedded/start.ts';
export { type FaultProxy, type SwallowReplyOptions, startFaultProxy } from './fault-proxy.ts';
export { checkHistory } from './history/check.ts';
export type { HistoryEvent, RecordedCall, RecordedIncident, RecordedKind } from './history/event.ts';
export {
  type EventToRecord,
  type Holdable,
  type RecordedHold,
  type RecordedRequest,
  Recorder,
  readHistory,
} from './history/recorder.ts';
export { describeViolation } from './history/shrink.ts';
export { drawTimeline, type TimelineOptions } from './history/timeline.ts';
export type { CheckBounds, Figures, Verdict, Violation, ViolationKind } from './history/verdict.ts';
export type { HeldRequest, RequestMatch } from './proxy-rules.ts';
export { RawConnection, type RawMessage } from './raw-connection.ts';
export { type RawArgument, RawError, type RawReply } from './resp.ts';
export { startServer, type TestServer, type TestServerOptions } from './server.ts';
export { findServerBinary } from './server-binary.ts';
