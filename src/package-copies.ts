/**
 * What the copies of this package in one process have in common: the ES modules, the CommonJS build, and whatever
 * other copies were installed.
 *
 * A class of one copy is not the class of another, so objects that users pass between copies are recognised by a brand.
 */

/** Whether any copy made this object; `brand` is from `Symbol.for`, whose registry all copies share. */
export function isBranded(value: unknown, brand: symbol): boolean {
  return typeof value === 'object' && value !== null && brand in value;
}

/** The one value of this name in the process; the first copy that asks makes it. */
export function sharedByCopies<T>(name: string, make: () => T): T {
  const shared = globalThis as unknown as Record<symbol, T | undefined>;
  const key = Symbol.for(name);
  shared[key] ??= make();
  return shared[key];
}
