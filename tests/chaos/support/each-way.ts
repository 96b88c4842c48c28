/** The ways that a fault is tried with, each in a test of its own. */
import { inject } from 'vitest';
import { WAYS, type Way } from './ways.ts';

/** At another version of the server one is enough: the libraries are the same there. */
export const EACH_WAY: readonly Way[] = inject('otherServer') === undefined ? WAYS : WAYS.slice(0, 1);
