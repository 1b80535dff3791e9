/**
 * Files that are trusted as they are, changed by chance and verified: each gets a verdict, and what is called trusted
 * still holds, byte for byte, all that its signers and authorities have signed.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { octetsOf } from '../../../src/asn1/read.ts';
import { parseCertificate } from '../../../src/certificates/certificate.ts';
import { parseSignedData } from '../../../src/cms/parse-signed-data.ts';
import type { Format } from '../../../src/format/format.ts';
import { withNested } from '../../../src/format/signature.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { inspectFile } from '../../../src/verifying/inspect-file.ts';
import { trustExaminer } from '../../../src/verifying/trust.ts';
import { flatten, type VerifiedFile } from '../../../src/verifying/verdict.ts';
import { type Verifying, verifyFile } from '../../../src/verifying/verify-file.ts';
import { unzip } from '../../unit/formats/jar/simple-zip.ts';
import { headerOffsets, slowContent } from '../../unit/formats/pe/slow-pe.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';
import { INTEGRITY_ONLY } from '../../unit/verifying/support/integrity-only.ts';
import type { Bases } from '../bases.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateDer } from '../mutations/der.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

/** All of the subjects' certificates and timestamps are valid then. */
const NOW = new Date('2026-12-31T00:00:00Z');

export const programVerdictTarget: TargetDefinition = verdictTarget(pe, '.exe', [
  'stamped.exe',
  'stamped-ber.exe',
  'stamped-nested.exe',
]);
export const archiveVerdictTarget: TargetDefinition = verdictTarget(jar, '.jar', ['stamped.jar', 'stamped-twice.jar']);

const WIN_CERTIFICATE_HEADER = 8;

interface Subject {
  readonly bytes: Buffer;
  /** Where its signatures begin. */
  readonly start: number;
  /** The first CMS that stands in the file. */
  readonly cms: Uint8Array;
  readonly signed: Signed;
}

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
      const subjects: Subject[] = [];
      for (const name of names) {
        const bytes = Buffer.from(bases.read(`fuzz/base-${name}`));
        // CheckSum is checked, and anyone who changes a file on purpose puts it right; without one the other checks are alone.
        if (format === pe) bytes.writeUInt32LE(0, headerOffsets(bytes).checksum);
        const verified = await check(bytes);
        if (verified.verdict !== 'trusted') throw new Error(`${name} is ${verified.verdict}, and has to be trusted`);
        const found = (await (await openBytes(format, bytes)).signatures()).map(({ envelope }) => envelope.bytes);
        const first = Math.min(...found.map((each) => bytes.indexOf(each)));
        const start = format === pe ? first - WIN_CERTIFICATE_HEADER : first;
        subjects.push({
          bytes,
          start,
          cms: found[0] ?? new Uint8Array(),
          signed: await signedIn(format, bytes, verified),
        });
      }
      return {
        make: (random) => mutateSubject(format, pick(random, subjects), random),
        async run(input) {
          const verified = await check(input);
          if (verified.error?.category === 'internal') throw verified.error.cause ?? verified.error;
          for (const { message, code } of verified.findings) requireSaid(message, code);
          await answering(() => inspectFile(path, verifying));
          if (verified.verdict === 'trusted') {
            const found = await signedIn(format, Buffer.from(input), verified);
            const isThere = subjects.some(({ signed }) => holds(signed, found));
            require(isThere, 'called trusted, and not all that was signed is there');
          }
          return verified.verdict ?? `no verdict: ${verified.error?.code}`;
        },
      };
    },
  };
}

function verifyingOf(bases: Bases): Verifying {
  const roots = ['golden/root.pem', 'fuzz/base-tsa-root.pem'].map((name) => {
    const base64 = bases.read(name).toString('latin1');
    return parseCertificate(Buffer.from(base64.replace(/-----[^-]+-----/g, ''), 'base64'), 'root');
  });
  return {
    ...INTEGRITY_ONLY,
    examineTrust: trustExaminer({ roots: { roots, source: 'test' }, now: NOW }),
    now: NOW,
  };
}

function mutateSubject(format: Format, subject: Subject, random: Random): Buffer {
  const { bytes, start, cms } = subject;
  if (once(random, 2)) {
    const changed = mutateDer(cms, random);
    return format === pe ? programWith(changed, subject) : archiveWith(changed, subject);
  }
  return mutateBytes(bytes, random, once(random, 5) ? [0, bytes.length] : [start, bytes.length]);
}

function programWith(cms: Buffer, { bytes, start }: Subject): Buffer {
  const table = Buffer.alloc(Math.ceil((WIN_CERTIFICATE_HEADER + cms.length) / 8) * 8);
  bytes.copy(table, 0, start, start + WIN_CERTIFICATE_HEADER);
  table.writeUInt32LE(table.length);
  table.set(cms, WIN_CERTIFICATE_HEADER);
  const changed = Buffer.concat([bytes.subarray(0, start), table]);
  changed.writeUInt32LE(table.length, headerOffsets(bytes).entry + 4);
  return changed;
}

/** Keeps the length, because the records of the archive stay unchanged. Zeros after the signature are a finding, not a fault. */
function archiveWith(other: Buffer, { bytes, cms }: Subject): Buffer {
  const at = bytes.indexOf(cms);
  const changed = Buffer.from(bytes).fill(0, at, at + cms.length);
  changed.set(other.subarray(0, cms.length), at);
  return changed;
}

/** The contents, and of each signature and each of its timestamps all that was signed. */
async function signedIn(format: Format, bytes: Buffer, verified: VerifiedFile) {
  const found = withNested(await (await openBytes(format, bytes)).signatures());
  const times = flatten(verified.signatures).map(({ time }) => time?.getTime());
  const signatures = found.map(async ({ envelope, timestamps }, index) => ({
    signed: await signedBy(envelope.bytes),
    time: times[index],
    tokens: await Promise.all(timestamps.map((timestamp) => signedBy(timestamp.bytes))),
  }));
  return {
    contents: format === pe ? programIn(bytes).toString('latin1') : filesIn(bytes),
    signatures: await Promise.all(signatures),
  };
}

/** In hexadecimal: content, signed attributes, signature value and certificate. Nothing of what cannot be read. */
async function signedBy(cms: Uint8Array): Promise<string | undefined> {
  const read = await answering(() => {
    const { content, signers } = parseSignedData(cms);
    const [{ signedBytes, signature, certificate }] = signers;
    // BER lets an OCTET STRING come in pieces, and what it holds is the same.
    const octets = content && (content.tag === 0x30 ? content.contents : octetsOf(content, 'content'));
    return [octets, signedBytes, signature, certificate].map((part) => Buffer.from(part ?? []).toString('hex'));
  });
  return 'code' in read ? undefined : read.value.join(' ');
}

type Signed = Awaited<ReturnType<typeof signedIn>>;

/** True if the contents, each signature, and a timestamp of each stamped signature were already there before. */
function holds(before: Signed, found: Signed): boolean {
  const isKnown = ({ signed, time, tokens }: Signed['signatures'][number]): boolean =>
    before.signatures.some((one) => {
      const isStamped = one.time === time && tokens.some((token) => token !== undefined && one.tokens.includes(token));
      return signed !== undefined && one.signed === signed && (tokens.length === 0 || isStamped);
    });
  return before.contents === found.contents && found.signatures.every(isKnown);
}

/** All that comes before the signatures, except for the two fields that signing changes. */
function programIn(bytes: Buffer): Buffer {
  return slowContent(bytes, bytes.readUInt32LE(headerOffsets(bytes).entry));
}

/** The files of an archive without its signature files, as another reader lists them. */
function filesIn(bytes: Buffer): string {
  // Bytes after the archive are a finding and no more.
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1') + 22;
  const files = unzip(bytes.subarray(0, end)).filter(
    ({ name }) => !name.endsWith('/') && !/^META-INF\/[^/]*\.(SF|RSA|EC|DSA|MF)$/i.test(name),
  );
  return JSON.stringify(files.map(({ name, contents }) => [name, contents.toString('latin1')]).sort());
}
