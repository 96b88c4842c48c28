/**
 * What is on the heap, by class: exact where the size of a heap is not.
 */
import { once } from 'node:events';
import { getHeapSnapshot } from 'node:v8';
import type { Figures } from './compare.ts';

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Objects by class, functions made at run time, and the bytes of all these without what they refer to. */
export interface Heap {
  readonly objects: Figures;
  readonly bytes: number;
}

async function takeSnapshot(): Promise<Snapshot> {
  const chunks: Buffer[] = [];
  const stream = getHeapSnapshot().on('data', (chunk: Buffer) => chunks.push(chunk));
  // Not 'end': the stream would still hold what it has read.
  await once(stream, 'close');
  return JSON.parse(Buffer.concat(chunks).toString()) as Snapshot;
}

/** Taking a snapshot collects all garbage first. */
export async function readHeap(): Promise<Heap> {
  const { snapshot, nodes, strings } = await takeSnapshot();
  const { node_fields: fields, node_types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  const objects: Record<string, number> = {};
  let bytes = 0;
  for (let at = 0; at < nodes.length; at += fields.length) {
    const field = (index: number | undefined) => nodes[at + (index as number)] as number;
    const kind = node_types[0][field(type)];
    // Buffers, tables and strings are left out: reading a snapshot makes many of its own.
    if (kind !== 'object' && kind !== 'closure') continue;
    bytes += field(size);
    const title = kind === 'closure' ? 'functions' : (strings[field(name)] as string);
    // What V8 keeps beside the objects of the program is named differently by its versions.
    if (!title.startsWith('system / ')) objects[title] = (objects[title] ?? 0) + 1;
  }
  return { objects, bytes };
}
