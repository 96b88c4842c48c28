/**
 * The test kit: real servers to test against, and a proxy that breaks the network between.
 *
 * @packageDocumentation
 */
export { type EmbeddedServer, type EmbeddedServerOptions, startEmbeddedServer } from '../embedded/start.ts';
export { type FaultProxy, type SwallowReplyOptions, startFaultProxy } from './fault-proxy.ts';
export type { HeldRequest, RequestMatch } from './proxy-rules.ts';
export { RawConnection, type RawMessage } from './raw-connection.ts';
export { type RawArgument, RawError, type RawReply } from './resp.ts';
export { startServer, type TestServer, type TestServerOptions } from './server.ts';
export { findServerBinary } from './server-binary.ts';
