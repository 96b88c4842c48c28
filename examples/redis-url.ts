/**
 * The server of the examples: the one at `REDIS_URL`, or else a private one that ends with the process.
 */
import { startEmbeddedServer } from 'holdfast/testing';

const { REDIS_URL } = process.env;

export const redisUrl = REDIS_URL ?? (await startEmbeddedServer()).url;
