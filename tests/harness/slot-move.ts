/**
 * A slot on its way from one primary of a Cluster to another, which a test may leave half-way: keys that
 * have gone are then answered with ASK, several keys on both sides with TRYAGAIN.
 */
import type { TestServer } from '../../src/testing/index.ts';
import { answerOf } from './server-answers.ts';

const KEYS_AT_ONCE = 100;
const MIGRATE_TIMEOUT_MS = 5_000;

export interface SlotMove {
  readonly slot: number;
  readonly from: TestServer;
  readonly to: TestServer;
  /** Moves these keys; without any, all that are left. */
  migrate(...keys: string[]): Promise<void>;
  /** Moves what is left and gives the slot away; resolves when every node knows. */
  finish(): Promise<void>;
}

export interface SlotMoveContext {
  readonly slot: number;
  readonly from: TestServer;
  readonly to: TestServer;
  /** The primaries besides these two. */
  readonly others: readonly TestServer[];
  readonly idOf: (node: TestServer) => string;
  readonly whenMoved: () => Promise<void>;
}

async function migrate({ from, to }: SlotMoveContext, keys: readonly string[]): Promise<void> {
  await from.command('MIGRATE', to.host, to.port, '', 0, MIGRATE_TIMEOUT_MS, 'KEYS', ...keys);
}

async function migrateAll(context: SlotMoveContext): Promise<void> {
  for (;;) {
    const keys = await context.from.command('CLUSTER', 'GETKEYSINSLOT', context.slot, KEYS_AT_ONCE);
    if (!Array.isArray(keys) || keys.length === 0) return;
    await migrate(context, keys.map(String));
  }
}

export async function beginSlotMove(context: SlotMoveContext): Promise<SlotMove> {
  const { slot, from, to, others, idOf, whenMoved } = context;
  // The receiver first: a sender that answers ASK needs somebody who takes the asking.
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', idOf(from));
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', idOf(to));
  return {
    slot,
    from,
    to,
    migrate: (...keys) => (keys.length === 0 ? migrateAll(context) : migrate(context, keys)),
    finish: async () => {
      await migrateAll(context);
      // The receiver first again, or nobody would have the slot in between.
      for (const node of [to, from]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', idOf(to));
      for (const node of others) await answerOf(node, 'CLUSTER', 'SETSLOT', slot, 'NODE', idOf(to));
      await whenMoved();
    },
  };
}
