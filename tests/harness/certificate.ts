/**
 * A self-signed certificate for this machine's loopback, made on the spot: an X.509 v3 certificate in DER,
 * written by hand, because neither Node.js nor every machine has something that makes one.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM. It vouches for itself, so it is also what a client has to trust. */
  readonly cert: string;
  /** PEM, PKCS #8. */
  readonly key: string;
}

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  /** `[0]` and `[3]` of a certificate: the version, the extensions. */
  version: 0xa0,
  extensions: 0xa3,
  /** `[2]` and `[7]` of a name: a host name, an IP address. */
  dnsName: 0x82,
  ipAddress: 0x87,
} as const;

/** The contents of object identifiers, as they are encoded. */
const OID = {
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const;

const DAY_MS = 24 * 60 * 60 * 1_000;
const VALID_DAYS = 30;

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

const sequence = (...parts: readonly Buffer[]) => der(TAG.sequence, ...parts);
const oid = (hex: string) => der(TAG.oid, Buffer.from(hex, 'hex'));
const TRUE = der(TAG.boolean, Buffer.from([0xff]));
const ALGORITHM = sequence(oid(OID.ecdsaWithSha256));

/** A bit string of whole bytes: the first byte counts the bits unused in the last one. */
const bitString = (bytes: Buffer) => der(TAG.bitString, Buffer.from([0]), bytes);

function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replace(/\.\d+|\D/g, '');
  return der(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`));
}

function distinguishedName(commonName: string): Buffer {
  const value = der(TAG.utf8String, Buffer.from(commonName));
  return sequence(der(TAG.set, sequence(oid(OID.commonName), value)));
}

function extensions(): Buffer {
  const isAuthority = sequence(oid(OID.basicConstraints), TRUE, der(TAG.octetString, sequence(TRUE)));
  const names = sequence(
    der(TAG.dnsName, Buffer.from('localhost')),
    der(TAG.ipAddress, Buffer.from([127, 0, 0, 1])),
  );
  return sequence(isAuthority, sequence(oid(OID.subjectAltName), der(TAG.octetString, names)));
}

function toPem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

/** A certificate for localhost and 127.0.0.1, and its key: elliptic curve P-256. */
export function createCertificate(): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const nowMs = Date.now();
  // A first byte between 1 and 127 makes a positive number without leading zeros.
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
  const name = distinguishedName('holdfast test');
  const signed = sequence(
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial),
    ALGORITHM,
    name,
    sequence(time(nowMs - DAY_MS), time(nowMs + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.extensions, extensions()),
  );
  const signature = sign('sha256', signed, privateKey);
  return {
    cert: toPem(sequence(signed, ALGORITHM, bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
