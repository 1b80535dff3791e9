/** The name of a signature's two files in META-INF/ (JAR File Specification, "Signature File"). */

import type { EmbeddedBlock } from './blocks.ts';
import { jarErrors } from './errors.ts';

const LONGEST = 8;

/** Upper case, at most 8 of A–Z, 0–9, `_` and `-`; any other character becomes `_`, as jarsigner makes it of an alias. */
export function blockName(wanted: string): string {
  const name = wanted.toUpperCase().replace(/[^A-Z0-9_-]/gu, '_');
  return name.slice(0, LONGEST) || 'SIGNER';
}

export interface NameRequest {
  /** What the user asked for; undefined for a name made of the certificate's. */
  readonly signerName: string | undefined;
  readonly leaf: { readonly der: Uint8Array; readonly name: string };
  /** The signatures that stay beside the new one. */
  readonly others: readonly Pick<EmbeddedBlock, 'base' | 'signerCertificate' | 'signerName'>[];
}

/** A name that no other certificate's signature has. Throws `signer-name-taken`. */
export function chooseBlockName({ signerName, leaf, others }: NameRequest): string {
  const takenBy = (name: string) =>
    others.find((other) => other.base === name && !sameBytes(other.signerCertificate, leaf.der));
  if (signerName !== undefined) {
    const name = blockName(signerName);
    const other = takenBy(name);
    if (other !== undefined) throw jarErrors('signer-name-taken', { name, signer: other.signerName });
    return name;
  }
  const name = blockName(leaf.name);
  if (takenBy(name) === undefined) return name;
  for (let number = 2; ; number++) {
    const distinct = `${name.slice(0, LONGEST - String(number).length)}${number}`;
    if (takenBy(distinct) === undefined) return distinct;
  }
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}
