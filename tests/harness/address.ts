/** An address that stays while the server behind it changes, as those of managed servers do. */
import { type FaultProxy, startFaultProxy } from '../../src/testing/index.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
}

export interface Address {
  readonly proxy: FaultProxy;
  /** From here on it leads new connections there. */
  leadNewTo(to: Place): void;
  /** The same, and every connection is broken. */
  lead(to: Place): void;
}

export async function startAddress(first: Place): Promise<Address> {
  let current = first;
  const proxy = await startFaultProxy({
    host: first.host,
    get port() {
      return current.port;
    },
  });
  const leadNewTo: Address['leadNewTo'] = (to) => {
    current = to;
  };
  return {
    proxy,
    leadNewTo,
    lead(to) {
      leadNewTo(to);
      proxy.dropConnections();
    },
  };
}
