/** Programs (PE) signed by good and bad certificates, and tampered ones: what the table of verdicts is about. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { flipped } from '../../support/flipped.ts';
import { fixture } from '../../support/programs/cli.ts';
import { headerOffsets, slowChecksum } from '../../unit/formats/pe/slow-pe.ts';
import { must } from '../interop/verifiers.ts';
import { nameOf, SIGNINGS, type Signing, type VerdictPki } from './pki.ts';
import { MESSAGE_DIGEST, offsetBehind, tokenChanges } from './token.ts';

const PROGRAM = fixture('pe/hello.exe');
/** The attribute's OID as it stands in DER. */
const NESTED_SIGNATURE = Buffer.from('060a2b060104018237020401', 'hex');
/** Of mutate.py: what leaves the checksum right, changes nothing else, or leaves no signature. */
const NOT_TO_MEND = /^(00-intact|03-checksum-field|19-signature-removed|20-checksum-zeroed)/;

/** By osslsigncode, which embeds whatever token it gets. */
export async function signPrograms(folder: string, pki: VerdictPki): Promise<Map<string, string>> {
  mkdirSync(folder, { recursive: true });
  // Java 17 knows no such curve, so no JAR is signed with it.
  for (const signing of [...SIGNINGS, { by: 'leafec192' }])
    await signProgram(pki, signing, path.join(folder, nameOf(signing, '.exe')));
  return pathsIn(folder);
}

/** `next to`: a signed program, in whose signature the new one is nested. */
export async function signProgram(pki: VerdictPki, signing: Signing, output: string, existing?: string): Promise<void> {
  const { by, timestamp, digest = 'sha256' } = signing;
  const inPki = (name: string) => path.join(pki.folder, name);
  const certificates = existsSync(inPki(`${by}.chain.pem`)) ? `${by}.chain.pem` : `${by.replace(/-alone$/, '')}.crt`;
  const key = inPki(`${by.replace(/-alone$/, '')}.key`);
  const stamp = timestamp === undefined ? [] : ['-ts', pki.timestampUrl(timestamp)];
  const how = ['-certs', inPki(certificates), '-key', key, '-h', digest, ...stamp];
  const what = existing === undefined ? ['-in', PROGRAM] : ['-nest', '-in', existing];
  await must('osslsigncode', ['sign', ...how, ...what, '-out', output]);
}

/** All of mutate.py; and most again with the checksum repaired, which would tell of them by itself. @returns name → path */
export async function mutatePrograms(signed: string, folder: string, verifiers: string): Promise<Map<string, string>> {
  mkdirSync(folder, { recursive: true });
  await must('python3', [path.join(verifiers, 'mutate.py'), signed, folder]);
  for (const name of readdirSync(folder).filter((mutant) => !NOT_TO_MEND.test(mutant))) {
    const repaired = withChecksum(readFileSync(path.join(folder, name)));
    writeFileSync(path.join(folder, name.replace('.exe', '+checksum.exe')), repaired);
  }
  return pathsIn(folder);
}

/** What mutate.py does not: changes of the timestamp, with the checksum repaired. */
export function changeTimestamps(signed: string, folder: string): void {
  for (const [name, changed] of tokenChanges(readFileSync(signed))) {
    writeFileSync(path.join(folder, `${name}+checksum.exe`), withChecksum(changed));
  }
}

/** `nested`: a program with two signatures. One signed attribute of the inner one is changed, and the checksum repaired. */
export function changeNested(nested: string, output: string): void {
  const bytes = readFileSync(nested);
  const inner = offsetBehind(bytes, NESTED_SIGNATURE);
  writeFileSync(output, withChecksum(flipped(bytes, offsetBehind(bytes, MESSAGE_DIGEST, inner) + 8)));
}

/** Name → path of the files of a folder, in the alphabet's order. */
export function pathsIn(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, path.join(folder, name)]),
  );
}

/** The same with CheckSum in the header put right. */
function withChecksum(program: Buffer): Buffer {
  const copy = Buffer.from(program);
  copy.writeUInt32LE(slowChecksum(copy), headerOffsets(copy).checksum);
  return copy;
}
