/** What is seen of each fault of servers and links. */
import { NETWORK_SIGHTS } from './network-sights.ts';
import { SERVER_SIGHTS } from './server-sights.ts';
import type { Observation } from './sight.ts';
import { TOPOLOGY_SIGHTS } from './topology-sights.ts';

export const SIGHTS: Readonly<Record<string, Observation>> = {
  ...NETWORK_SIGHTS,
  ...SERVER_SIGHTS,
  ...TOPOLOGY_SIGHTS,
};
