/**
 * The locks of a client by their keys: a dashboard sees keys, and a client that maps names cannot be asked for the name
 * of a key.
 */
import type { Description } from '../inspect/description.ts';
import type { HolderSource } from '../inspect/free-holder.ts';
import { Primitives } from '../primitives.ts';
import type { Wire } from '../requests/wire.ts';
import type { Wiring } from '../wiring.ts';

function byKey(wire: Wire): Wire {
  return Object.create(wire, { keyOf: { value: (key: string) => key } });
}

export class LocksByKey extends Primitives implements HolderSource {
  readonly wiring: Wiring;
  readonly #inspected: Wiring;

  constructor(wiring: Wiring) {
    super();
    this.#inspected = wiring;
    const { synchronizers } = wiring;
    this.wiring = Object.create(wiring, {
      wire: { value: (guarded?: boolean) => byKey(wiring.wire(guarded)) },
      synchronizers: { value: { ...synchronizers, wire: byKey(synchronizers.wire) } },
    });
  }

  inspect(key: string): Promise<Description> {
    return this.#inspected.inspector.inspect(key, {});
  }
}
