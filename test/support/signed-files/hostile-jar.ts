/** JARs whose manifest, signature files and blocks can be anything: signed for real where a signer is given. */

import { createHash } from 'node:crypto';
import { type SimpleEntry, zip } from '../../unit/formats/jar/simple-zip.ts';
import { type HostileCms, hostileCms } from './hostile-cms.ts';

export const MAIN_SECTION = 'Manifest-Version: 1.0\r\n\r\n';

export function digest64(contents: string | Uint8Array, algorithm = 'sha256'): string {
  return createHash(algorithm).update(contents).digest('base64');
}

export function section(name: string, contents: string): string {
  return `Name: ${name}\r\nSHA-256-Digest: ${digest64(contents)}\r\n\r\n`;
}

/** With the digest of the whole manifest, and those of the sections given. */
export function signatureFile(manifest: string, sections: ReadonlyMap<string, string> = new Map()): string {
  const main = `Signature-Version: 1.0\r\nSHA-256-Digest-Manifest: ${digest64(manifest)}\r\n\r\n`;
  return main + Array.from(sections, ([name, text]) => section(name, text)).join('');
}

/** The block of a signature file. */
export function signatureBlock(signedFile: string, cms: HostileCms): Uint8Array {
  return hostileCms({ digested: Buffer.from(signedFile), ...cms });
}

export interface HostileJar {
  readonly manifest: string | Uint8Array;
  /** Name without extension → signature file and block. */
  readonly signatures: Readonly<
    Record<string, readonly [signatureFile: string | Uint8Array, block: string | Uint8Array]>
  >;
  readonly entries?: readonly SimpleEntry[];
}

export function hostileJar({ manifest, signatures, entries = [] }: HostileJar): Buffer {
  const signed = Object.entries(signatures).flatMap(([name, [file, block]]) => [
    { name: `META-INF/${name}.SF`, contents: file },
    { name: `META-INF/${name}.RSA`, contents: block },
  ]);
  return zip([{ name: 'META-INF/MANIFEST.MF', contents: manifest }, ...signed, ...entries]);
}
