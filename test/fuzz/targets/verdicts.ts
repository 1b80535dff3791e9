/**
 * Files that are trusted as they are, changed by chance and verified: each gets a verdict, and what is called trusted
 * still holds, byte for byte, all that its signers and authorities have signed.
 */

import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ParsedCertificate, parseCertificate } from '../../../src/certificates/certificate.ts';
import { parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import type { Format } from '../../../src/format/format.ts';
import { withNested } from '../../../src/format/signature.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { formats } from '../../../src/formats/registry.ts';
import { inspectFile } from '../../../src/verifying/inspect-file.ts';
import { trustExaminer } from '../../../src/verifying/trust.ts';
import { flatten, type VerifiedFile, type VerifiedSignature } from '../../../src/verifying/verdict.ts';
import { type Verifying, verifyFile } from '../../../src/verifying/verify-file.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { unzip } from '../../unit/formats/jar/simple-zip.ts';
import { headerOffsets } from '../../unit/formats/pe/slow-pe.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';
import type { Bases } from '../bases.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateDer } from '../mutations/der.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';
import { makeSubject, type Subject, vouchedFor } from './subjects.ts';

/** All of the subjects' certificates and timestamps are valid then. */
const NOW = new Date('2026-12-31T00:00:00Z');

export const programVerdictTarget: TargetDefinition = verdictTarget(pe, '.exe', [
  'stamped.exe',
  'stamped-ber.exe',
  'stamped-nested.exe',
]);
export const archiveVerdictTarget: TargetDefinition = verdictTarget(jar, '.jar', ['stamped.jar', 'stamped-twice.jar']);

function verdictTarget(format: Format, extension: string, names: readonly string[]): TargetDefinition {
  return {
    share: 1500,
    async open({ bases, folder }) {
      const verifying = verifyingOf(bases);
      const path = join(folder, `file${extension}`);
      const check = async (bytes: Uint8Array): Promise<VerifiedFile> => {
        await writeFile(path, bytes);
        return verifyFile(path, verifying);
      };
      const subjects: Known[] = [];
      for (const name of names) {
        const subject = await makeSubject(format, bases.read(`fuzz/base-${name}`));
        const verified = await check(subject.bytes);
        if (verified.verdict !== 'trusted') throw new Error(`${name} is ${verified.verdict}, and has to be trusted`);
        subjects.push({ subject, verified });
      }
      return {
        make: (random) => mutateSubject(pick(random, subjects).subject, random),
        async run(input) {
          const verified = await check(input);
          if (verified.error?.category === 'internal') throw verified.error.cause ?? verified.error;
          for (const { message, code } of verified.findings) requireSaid(message, code);
          await answering(() => inspectFile(path, verifying));
          if (verified.verdict === 'trusted') await requireAllThere(subjects, verified, Buffer.from(input), format);
          return verified.verdict ?? `no verdict: ${verified.error?.code}`;
        },
      };
    },
  };
}

interface Known {
  readonly subject: Subject;
  readonly verified: VerifiedFile;
}

function verifyingOf(bases: Bases): Verifying {
  const roots = ['golden/root.pem', 'fuzz/base-tsa-root.pem'].map((name): ParsedCertificate => {
    const der = Buffer.from(
      bases
        .read(name)
        .toString('latin1')
        .replace(/-----[^-]+-----/g, ''),
      'base64',
    );
    return parseCertificate(der, 'root');
  });
  return {
    formats,
    digestEntries,
    examineTrust: trustExaminer({ roots: { roots, source: 'test' }, now: NOW }),
    now: NOW,
    policy: { requireTimestamp: false, signer: undefined, leastAlgorithm: undefined },
  };
}

function mutateSubject(subject: Subject, random: Random): Buffer {
  const { bytes, start, cms } = subject;
  if (once(random, 2)) return subject.with(mutateDer(cms, random));
  return mutateBytes(bytes, random, once(random, 5) ? [0, bytes.length] : [start, bytes.length]);
}

/** As one of the subjects was: everything signed of each signature, and of each of its timestamps, and all that it covers. */
async function requireAllThere(
  subjects: readonly Known[],
  verified: VerifiedFile,
  bytes: Buffer,
  format: Format,
): Promise<void> {
  const signatures = flatten(verified.signatures);
  for (const { subject, verified: original } of subjects) {
    const isOf =
      format === pe ? programOf(bytes, subject) === programOf(subject.bytes, subject) : haveSameFiles(bytes, subject);
    if (isOf && (await holdsAll(subject, flatten(original.signatures), signatures, bytes))) return;
  }
  require(false, 'called trusted, and not all that was signed is there');
}

async function holdsAll(
  subject: Subject,
  known: readonly VerifiedSignature[],
  signatures: readonly VerifiedSignature[],
  bytes: Buffer,
): Promise<boolean> {
  const before = withNested(await (await openBytes(subject.format, subject.bytes)).signatures());
  const values = await signatureValuesIn(subject.format, bytes);
  const includes = (part: Uint8Array): boolean =>
    bytes.includes(Buffer.from(part)) || values.some((value) => Buffer.compare(value, part) === 0);
  return signatures.every(({ signer, timestamps, time }) => {
    const candidates = before.filter((_, each) => known[each]?.signer.sha256 === signer.sha256);
    if (!candidates.some(({ envelope }) => vouchedFor(envelope.bytes).every(includes))) return false;
    if (timestamps.length === 0) return true;
    if (!known.some((one) => one.time?.getTime() === time?.getTime())) return false;
    const tokens = candidates.flatMap((one) => one.timestamps);
    return tokens.some((token) => vouchedFor(token.bytes).every(includes));
  });
}

/** As they are read: BER lets an OCTET STRING come in pieces, and what it holds is the same. */
async function signatureValuesIn(format: Format, bytes: Buffer): Promise<readonly Uint8Array[]> {
  const found = withNested(await (await openBytes(format, bytes)).signatures());
  const all = found.flatMap(({ envelope, timestamps }) => [
    envelope.bytes,
    ...timestamps.map((timestamp) => timestamp.bytes),
  ]);
  const read = await Promise.all(all.map((each) => answering(() => parseSignedData(each))));
  return read.flatMap((answer) => ('value' in answer ? answer.value.signers.map(({ signature }) => signature) : []));
}

/** The digest of all that comes before the signatures, except for the two fields that signing changes. */
function programOf(bytes: Buffer, { start }: Subject): string {
  const program = Buffer.from(bytes.subarray(0, start));
  const { checksum, entry } = headerOffsets(program);
  program.fill(0, checksum, checksum + 4).fill(0, entry, entry + 8);
  return createHash('sha256').update(program).digest('hex');
}

function haveSameFiles(bytes: Buffer, { bytes: original }: Subject): boolean {
  const [one, other] = [filesOf(bytes), filesOf(original)];
  return one.size === other.size && [...one].every(([name, contents]) => other.get(name) === contents);
}

/** The files of an archive without its signature files, as another reader lists them. */
function filesOf(bytes: Buffer): ReadonlyMap<string, string> {
  // Bytes after the archive are a finding and no more.
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1') + 22;
  const files = unzip(bytes.subarray(0, end)).filter(
    ({ name }) => !name.endsWith('/') && !/^META-INF\/[^/]*\.(SF|RSA|EC|DSA|MF)$/i.test(name),
  );
  return new Map(files.map(({ name, contents }) => [name, contents.toString('latin1')]));
}
