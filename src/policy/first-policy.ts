/**
 * Creates an initial policy from a run. The policy states which files are signed and by whom, and which are unsigned.
 */

import { dirname } from 'node:path/posix';
import { COMMON_NAME, ORGANIZATION } from '../asn1/object-identifiers.ts';
import { readCertificateFields } from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { pem } from '../crypto/pem.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { flatten, type Identity, type PathCertificate, type VerifiedSignature } from '../verifying/verdict.ts';
import type { ClassifiedFile } from './classified-file.ts';
import { TODO } from './policy-file.ts';

/** If more files than this are unsigned, the policy lists their folders instead. */
const MOST_NAMED = 20;
const MOST_USERS = 3;

/**
 * `rootsFile` is the name of the file with the roots, in the policy's folder. Rules and files are sorted, so the text
 * does not depend on the order of `files`.
 */
export function firstPolicy(files: readonly ClassifiedFile[], rootsFile: string): string {
  const signed = files.flatMap((file) => {
    const [first] = file.verified?.signatures ?? [];
    return first === undefined ? [] : [{ file, signature: first, signer: signerOf(first) }];
  });
  const signers = new Map(signed.map(({ signer }) => [JSON.stringify(signer), signer]));
  const rules = [...signers].sort(byKey).map(([key, signer]) => ({
    files: signed
      .filter((one) => JSON.stringify(one.signer) === key)
      .map(({ file }) => patternOf(file))
      .sort(),
    signers: [signer],
  }));
  const unsigned = files
    .filter(({ cause }) => cause === 'unsigned')
    .map(patternOf)
    .sort();
  const folders = [...new Set(unsigned.map((pattern) => `${dirname(pattern)}/*`))];
  const exception = { files: unsigned.length > MOST_NAMED ? folders : unsigned, require: 'intact', reason: TODO };
  const policy = {
    version: 1,
    ...(rootCertificates(files).size > 0 && { roots: [rootsFile] }),
    defaults: { timestamp: signed.length > 0 && signed.every(({ signature }) => signature.timestamps.length > 0) },
    rules: unsigned.length === 0 ? rules : [...rules, exception],
  };
  return `${JSON.stringify(policy, undefined, 2)}\n`;
}

/**
 * Returns the topmost certificate of each chain in PEM, with details that help a person compare it. The result is empty
 * if there are no signatures.
 */
export function rootsOf(files: readonly ClassifiedFile[]): string {
  const head =
    '# Compare each SHA-256 with the one that the publisher of the root announces: anyone can sign a file.\n';
  const parts = [...rootCertificates(files)].sort(byKey).map(([sha256, { root, users }]) => {
    const shown = [...users].sort().slice(0, MOST_USERS).join(', ');
    const more = users.size > MOST_USERS ? ` and ${users.size - MOST_USERS} more` : '';
    return `\n# ${oneLine(root.name)}\n# SHA-256 ${sha256}\n# used by ${oneLine(shown)}${more}\n${pem('CERTIFICATE', root.der)}`;
  });
  return parts.length === 0 ? '' : `${head}${parts.join('')}`;
}

interface UsedRoot {
  readonly root: PathCertificate;
  readonly users: Set<string>;
}

function rootCertificates(files: readonly ClassifiedFile[]): Map<string, UsedRoot> {
  const found = new Map<string, UsedRoot>();
  for (const file of files) {
    for (const root of flatten(file.verified?.signatures ?? []).flatMap(topmostOf)) {
      const key = fingerprintOf(root.der);
      const used = found.get(key) ?? { root, users: new Set<string>() };
      found.set(key, used);
      used.users.add([file.pathInFolder, ...file.path.slice(1)].join('!/'));
    }
  }
  return found;
}

function topmostOf({ signer, timestamps }: VerifiedSignature): readonly PathCertificate[] {
  const identities: readonly Identity[] = [signer, ...timestamps.map((timestamp) => timestamp.signer)];
  return identities.flatMap(({ root, path }) => root ?? path.slice(-1));
}

function signerOf({ signer }: VerifiedSignature) {
  const [leaf] = signer.path;
  const attributes = leaf && orUndefined(() => readName(readCertificateFields(leaf.der).subject))?.relativeNames.flat();
  const attributeOf = (type: string) => attributes?.find((attribute) => attribute.type === type)?.value;
  const [organization, commonName] = [attributeOf(ORGANIZATION), attributeOf(COMMON_NAME)];
  if (organization) return { organization };
  return commonName ? { commonName } : `sha256:${signer.sha256}`;
}

/** A pattern without `/` would also match files of this name in other folders. */
function patternOf({ pathInFolder, path }: ClassifiedFile): string {
  const location = [pathInFolder, ...path.slice(1)].join('!/');
  const pattern = location.replace(/[\\*?[\]{}()+@|$^"]/g, '\\$&');
  return pattern.includes('/') ? pattern.replace(/^!/, '\\!') : `./${pattern}`;
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function oneLine(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}
