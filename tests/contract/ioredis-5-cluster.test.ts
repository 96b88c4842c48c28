import { Cluster } from 'ioredis5';
import { describeOneProtocolCluster } from './ioredis-clients.ts';

describeOneProtocolCluster('ioredis 5', (nodes, options) => new Cluster(nodes, options));
