/** Every fault. Which of them strike when is left to the plan. */
import type { Fault } from '../fault.ts';
import { CLIENT_CLOCK_FAULTS } from './client-clocks.ts';
import { CLUSTER_FAULTS } from './cluster.ts';
import { MASTERS_FAULTS } from './masters.ts';
import { NETWORK_FAULTS } from './network.ts';
import { PERMISSION_FAULTS } from './permissions.ts';
import { PROCESS_FAULTS } from './processes.ts';
import { READER_FAULTS } from './readers.ts';
import { REPLICA_FAULTS } from './replicas.ts';
import { REQUEST_FAULTS } from './requests.ts';
import { SENTINEL_FAULTS } from './sentinel.ts';
import { SERVER_PROCESS_FAULTS } from './server-processes.ts';
import { SERVER_STATE_FAULTS } from './server-state.ts';
import { SUBSCRIPTION_FAULTS } from './subscriptions.ts';

export { ROWS_OF_WORKLOADS } from './rows.ts';

export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...CLIENT_CLOCK_FAULTS,
  ...NETWORK_FAULTS,
  ...REQUEST_FAULTS,
  ...SUBSCRIPTION_FAULTS,
  ...PERMISSION_FAULTS,
  ...SERVER_PROCESS_FAULTS,
  ...SERVER_STATE_FAULTS,
  ...READER_FAULTS,
  ...REPLICA_FAULTS,
  ...SENTINEL_FAULTS,
  ...CLUSTER_FAULTS,
  ...MASTERS_FAULTS,
];
