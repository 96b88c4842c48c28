/**
 * Where the bench lives: it is compiled into `bench/build/bench` before it runs.
 */
import { fileURLToPath } from 'node:url';

export const BENCH = fileURLToPath(new URL('../../', import.meta.url));
