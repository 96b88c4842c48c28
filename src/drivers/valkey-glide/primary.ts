/**
 * Finds the primary among the addresses of a GlideClient, and opens a connection to it.
 *
 * GLIDE takes the addresses of a primary and its replicas in any order and asks each server for its role. This file
 * does the same for every connection, because the roles may have changed.
 */

import type { ConnectionStates } from '../connection-state.ts';
import type { Connection, ConnectionEvents } from '../driver.ts';
import {
  addressesOf,
  type GlideAddress,
  type GlideConfiguration,
  openGlideConnection,
} from './connection.ts';

/** GLIDE's `NodeDiscoveryMode.Static`: the first address is the primary, whatever the server says. */
const FIRST_IS_PRIMARY = 1;
/** GLIDE's `NodeDiscoveryMode.DiscoverAll`: any server of the set leads to the primary. */
const ANY_LEADS_TO_PRIMARY = 2;

const PRIMARY = /^role:master\r?$/m;
const REPLICA_OF = /^master_host:(.+?)\r?$\s+^master_port:(\d+)\r?$/m;

/** Opens a dedicated connection to the primary. */
export async function openToPrimary(
  config: GlideConfiguration,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
): Promise<Connection> {
  const { nodeDiscoveryMode } = config;
  const candidates = addressesOf(config);
  const [first] = candidates;
  const isSure = nodeDiscoveryMode === FIRST_IS_PRIMARY || candidates.length === 1;
  if (first !== undefined && isSure && nodeDiscoveryMode !== ANY_LEADS_TO_PRIMARY) {
    return openGlideConnection(config, first, connectionStates, events);
  }
  let reason: unknown = new Error("None of the client's addresses is a primary");
  for (const address of candidates) {
    try {
      const { connection, primary } = await openIfPrimary(config, address, connectionStates, events);
      if (connection !== undefined) return connection;
      const isNew = !candidates.some(({ host, port }) => host === primary?.host && port === primary.port);
      if (primary !== undefined && isNew && nodeDiscoveryMode === ANY_LEADS_TO_PRIMARY)
        candidates.push(primary);
    } catch (error) {
      reason = error;
    }
    // Closing the driver ends the pending connection, and no other may be opened.
    if (connectionStates.isOver) break;
  }
  throw reason;
}

/** A connection to a primary, or the primary that a replica names. */
async function openIfPrimary(
  config: GlideConfiguration,
  address: GlideAddress,
  connectionStates: ConnectionStates,
  events: ConnectionEvents,
): Promise<{ connection?: Connection; primary?: GlideAddress }> {
  // Until the server is known to be the primary, a break is reported only by a rejection.
  let broken: Error | undefined;
  let onDown = (reason: Error) => {
    broken = reason;
  };
  const connection = await openGlideConnection(config, address, connectionStates, {
    onMessage: (channel, message) => events.onMessage(channel, message),
    onDown: (reason) => onDown(reason),
  });
  const info = await connection.send(['INFO', 'replication']).catch((error: unknown) => {
    connection.destroy();
    throw error;
  });
  if (broken !== undefined) throw broken;
  onDown = (reason) => events.onDown(reason);
  if (PRIMARY.test(String(info))) return { connection };
  connection.destroy();
  const [, host, port] = REPLICA_OF.exec(String(info)) ?? [];
  return host === undefined ? {} : { primary: { host, port: Number(port) } };
}
