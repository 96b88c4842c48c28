/**
 * Three ways in which nothing answers: the network swallows everything, connections are refused, the
 * server's process is frozen.
 */
import type { Arena } from './arena.ts';
import { EACH_WAY } from './each-way.ts';

export interface Fault {
  readonly title: string;
  begin(arena: Arena): Promise<void>;
  end(arena: Arena): Promise<void>;
}

const BLACKHOLE: Fault = {
  title: 'a silent black hole',
  begin: async ({ proxy }) => proxy.blackhole(),
  end: ({ proxy }) => proxy.heal(),
};
const REFUSED: Fault = {
  title: 'connections refused',
  begin: ({ proxy }) => proxy.refuse(),
  end: ({ proxy }) => proxy.heal(),
};
const FROZEN: Fault = {
  title: 'a frozen server',
  begin: ({ server }) => server.pause(),
  end: ({ server }) => server.resume(),
};
export const FAULTS = [BLACKHOLE, REFUSED, FROZEN];
export const CASES = EACH_WAY.flatMap((way) => FAULTS.map((fault) => ({ way, title: fault.title, fault })));
