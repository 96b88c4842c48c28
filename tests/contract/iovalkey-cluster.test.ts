import { Cluster } from 'iovalkey';
import { describeOneProtocolCluster } from './ioredis-clients.ts';

describeOneProtocolCluster('iovalkey', (nodes, options) => new Cluster(nodes, options));
