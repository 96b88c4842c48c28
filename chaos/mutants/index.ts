/** Every mutant that the checker has to catch. */
import { FAILOVER_MUTANTS } from './failover.ts';
import type { Mutant } from './mutant.ts';
import { PROCESS_MUTANTS } from './processes.ts';
import { RENEWAL_MUTANTS } from './renewal.ts';
import { REPLICA_MUTANTS } from './replicas.ts';
import { RESEND_MUTANTS } from './resends.ts';
import { SCRIPT_MUTANTS } from './scripts.ts';
import { TIMING_MUTANTS } from './timing.ts';
import { TOKEN_MUTANTS } from './tokens.ts';
import { WAITING_MUTANTS } from './waiting.ts';

export const MUTANTS: readonly Mutant[] = [
  ...SCRIPT_MUTANTS,
  ...TIMING_MUTANTS,
  ...WAITING_MUTANTS,
  ...RENEWAL_MUTANTS,
  ...TOKEN_MUTANTS,
  ...FAILOVER_MUTANTS,
  ...REPLICA_MUTANTS,
  ...RESEND_MUTANTS,
  ...PROCESS_MUTANTS,
];
