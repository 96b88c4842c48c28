/**
 * Loads a package that only the bench has installed. Its types are not there where the bench was never run, so each
 * contestant describes the few functions it calls.
 */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}
