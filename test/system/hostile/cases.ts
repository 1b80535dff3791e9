/** What hostile files are made of, and who signs them. */

import { objectIdentifier, sequence } from '../../../src/asn1/write.ts';
import {
  CODE_SIGNING_PURPOSE,
  type HostileCertificate,
  hostileCertificate,
  name,
  TIME_STAMPING_PURPOSE,
} from '../../support/signed-files/hostile-certificates.ts';
import type { HostileCms, HostileSigner } from '../../support/signed-files/hostile-cms.ts';
import { peWithSignature, signedContent } from '../../support/signed-files/hostile-pe.ts';
import { testKey } from '../../support/signed-files/pki.ts';
import { peculiarSignature } from '../../unit/authenticode/peculiar-signature.ts';
import { buildToken, buildTstInfo } from '../../unit/timestamp/support/build-token.ts';

export interface HostileFile {
  readonly what: string;
  readonly make: () => Uint8Array;
  readonly verdict: 'untrusted' | 'unsupported' | 'broken' | 'unsigned';
  readonly code?: string;
}

export function hostile(
  what: string,
  verdict: HostileFile['verdict'],
  code: string | null,
  make: HostileFile['make'],
): HostileFile {
  return { what, make, verdict, ...(code !== null && { code }) };
}

export function byName<Named extends { readonly what: string }>(files: readonly Named[]) {
  return files.map((file) => [file.what, file] as const);
}

export const NESTED = '1.3.6.1.4.1.311.2.4.1';
export const TIMESTAMP = '1.3.6.1.4.1.311.3.3.1';
export const COUNTER_SIGNATURE = '1.2.840.113549.1.9.6';
export const OPUS_INFO = '1.3.6.1.4.1.311.2.1.12';
export const SHA256 = sequence(objectIdentifier('2.16.840.1.101.3.4.2.1'));

const keys = testKey('ec', 'hostile');

/** A certificate of the signer's key, self-signed. */
export function signerWith(parts: Partial<HostileCertificate> = {}) {
  const { privateKey, publicKey } = keys;
  const extensions = [CODE_SIGNING_PURPOSE];
  const der = hostileCertificate({ subject: name('Hostile'), publicKey, issuerKey: privateKey, extensions, ...parts });
  return { der, privateKey, publicKey };
}

export const signer = signerWith();
export const authority = signerWith({ subject: name('Hostile TSA'), extensions: [TIME_STAMPING_PURPOSE] });

/** A signature of the program, by this signer unless told otherwise. */
export function signature({ signer: by = signer, ...parts }: Partial<HostileCms> = {}): Uint8Array {
  return peculiarSignature(by, { file: signedContent(), ...parts });
}

/** A timestamp token for a signature value. */
export function tokenFor(value: Uint8Array, by: HostileSigner = authority, certificates = [by.der]): Uint8Array {
  return buildToken({ info: buildTstInfo(value), signer: by, certificates });
}

export function programWith(parts: Partial<HostileCms>): Buffer {
  return peWithSignature(signature(parts));
}

export function repeated(count: number, bytes: Uint8Array): Buffer {
  return Buffer.alloc(count * bytes.length, bytes);
}

export function listed<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Certificates that have nothing to do with anything. */
export function strangers(count: number, parts: Partial<HostileCertificate> = {}): Uint8Array[] {
  return listed(count, (index) =>
    hostileCertificate({
      subject: name(`Stranger ${index}`),
      publicKey: keys.publicKey,
      serialNumber: Buffer.from(`1${index}`),
      ...parts,
    }),
  );
}
