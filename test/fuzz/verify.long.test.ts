/**
 * Thousands of files changed by chance, the same ones each time. Each gets a verdict, soon, and never a fault of the program;
 * and what is called trusted still holds, byte for byte, all that its signers and authorities have signed.
 */

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ParsedCertificate, parseCertificate } from '../../src/certificates/parsed-certificate.ts';
import { CodesignError } from '../../src/errors/codesign-error.ts';
import { describeFile } from '../../src/formats/recognise.ts';
import { formats } from '../../src/formats/registry.ts';
import { inspectFile } from '../../src/verifying/inspect-file.ts';
import { trustJudge } from '../../src/verifying/trust.ts';
import type { VerifiedFile, VerifiedSignature } from '../../src/verifying/verdict.ts';
import { type Verifying, verifyFile } from '../../src/verifying/verify-file.ts';
import { digestEntries } from '../../src/zip/entry-digests.ts';
import { randomNumbers } from '../formats/jar/random.ts';
import { unzip } from '../formats/jar/simple-zip.ts';
import { openBytes } from '../formats/support/sign-bytes.ts';
import { fixture } from '../support/cli.ts';
import { startTimestampAuthority, type TimestampAuthority } from '../support/timestamp-authority.ts';
import { mutateBytes, mutateStructure, type Random } from './mutations.ts';
import { CHECKSUM, flat, makeSubjects, optionalHeader, type Subject, TABLE_ENTRY, vouchedFor } from './subjects.ts';

/** For each file and each kind of change. */
const CASES = 400;
const SEEDS = {
  bytes: 20260601,
  structure: 20260602,
} as const;
/** Of one case, with inspecting it; most take a few. */
const MOST_MILLISECONDS = 2000;

let folder: string;
let authority: TimestampAuthority;
let subjects: readonly Subject[];
let verifying: Verifying;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-fuzz-'));
  authority = await startTimestampAuthority();
  subjects = await makeSubjects(authority);
  const pems = [await readFile(fixture('golden/root.pem'), 'utf8'), authority.rootPem];
  const roots = pems.map((pem): ParsedCertificate => parseCertificate(derOf(pem), 'root'));
  const now = new Date();
  verifying = {
    formats,
    describe: describeFile,
    digestEntries,
    judgeTrust: trustJudge({ roots: { roots, source: 'test' }, now }),
    now,
    policy: { requireTimestamp: false, signer: undefined, leastAlgorithm: undefined },
  };
});
afterAll(async () => {
  await authority.stop();
  await rm(folder, { recursive: true, force: true });
});

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}

async function verify({ extension }: Subject, bytes: Uint8Array): Promise<VerifiedFile> {
  const path = join(folder, `file${extension}`);
  await writeFile(path, bytes);
  const verified = await verifyFile(path, verifying);
  expect(verified.error?.category).not.toBe('internal');
  await answering(() => inspectFile(path, verifying));
  return verified;
}

/** What the other commands do with it: they may refuse it, with a code. */
async function change({ format, cms }: Subject, bytes: Uint8Array): Promise<void> {
  await answering(async () => {
    const file = await openBytes(format, bytes);
    await answering(() => file.remove());
    await answering(() => file.attach(cms));
    const signatures = flat(await file.signatures());
    if (signatures.length > 0) await answering(() => file.stamp(new Map()));
    for (const signature of signatures) await signature.details();
  });
}

async function answering(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.category === 'internal') throw thrown;
  }
}

function flatten(signatures: readonly VerifiedSignature[]): VerifiedSignature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

/** Everything signed of each signature that the verdict counts, and of each of its timestamps, is in the file as it was. */
async function expectAllThere(
  subject: Subject,
  original: VerifiedFile,
  verified: VerifiedFile,
  bytes: Buffer,
): Promise<void> {
  const before = flat(await (await openBytes(subject.format, subject.bytes)).signatures());
  const known = flatten(original.signatures);
  for (const { signer, timestamps, time } of flatten(verified.signatures)) {
    const index = known.findIndex((one) => one.signer.sha256 === signer.sha256);
    const candidates = before.filter((_, each) => known[each]?.signer.sha256 === signer.sha256);
    expect(index).toBeGreaterThanOrEqual(0);
    expect(candidates.some(({ cms }) => vouchedFor(cms).every((part) => bytes.includes(Buffer.from(part))))).toBe(true);
    if (timestamps.length === 0) continue;
    expect(known.map((one) => one.time?.getTime())).toContain(time?.getTime());
    const tokens = candidates.flatMap((one) => one.timestamps);
    expect(tokens.some((token) => vouchedFor(token.bytes).every((part) => bytes.includes(Buffer.from(part))))).toBe(
      true,
    );
  }
  if (subject.extension === '.exe') expect(programOf(bytes, subject)).toEqual(programOf(subject.bytes, subject));
  else expect(filesOf(bytes)).toEqual(filesOf(subject.bytes));
}

/** The digest of all that comes before the signatures, but for the two fields that signing changes. */
function programOf(bytes: Buffer, { start }: Subject): string {
  const program = Buffer.from(bytes.subarray(0, start));
  program.fill(0, optionalHeader(program) + CHECKSUM, optionalHeader(program) + CHECKSUM + 4);
  program.fill(0, optionalHeader(program) + TABLE_ENTRY, optionalHeader(program) + TABLE_ENTRY + 8);
  return createHash('sha256').update(program).digest('hex');
}

/** The files of an archive, without those that make up its signatures, as another reader takes them apart. */
function filesOf(bytes: Buffer): ReadonlyMap<string, string> {
  // Bytes behind the archive are a finding and no more.
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1') + 22;
  const files = unzip(bytes.subarray(0, end)).filter(
    ({ name }) => !/^META-INF\/[^/]*\.(SF|RSA|EC|DSA|MF)$/i.test(name),
  );
  return new Map(
    files.filter(({ name }) => !name.endsWith('/')).map(({ name, contents }) => [name, contents.toString('latin1')]),
  );
}

type Mutate = (subject: Subject, random: Random) => Buffer;

async function attack(mutate: Mutate, seed: number): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const subject of subjects) {
    const random = randomNumbers(seed);
    const original = await verify(subject, subject.bytes);
    expect([subject.name, original.verdict]).toEqual([subject.name, 'trusted']);
    for (let index = 0; index < CASES; index += 1) {
      const bytes = mutate(subject, random);
      const about = `${subject.name}, case ${index}`;
      const started = performance.now();
      try {
        const verified = await verify(subject, bytes);
        await change(subject, bytes);
        if (verified.verdict === 'trusted') await expectAllThere(subject, original, verified, bytes);
        counts[verified.verdict ?? 'failed'] = (counts[verified.verdict ?? 'failed'] ?? 0) + 1;
      } catch (cause) {
        throw new Error(about, { cause });
      }
      expect([about, performance.now() - started]).toEqual([
        about,
        expect.toSatisfy((took) => took < MOST_MILLISECONDS),
      ]);
    }
  }
  return counts;
}

it('bytes changed, put in, taken out and copied', async () => {
  const counts = await attack(({ bytes, start, end }, random) => {
    const isAnywhere = random(5) === 0;
    return mutateBytes(bytes, isAnywhere ? 0 : start, isAnywhere ? bytes.length : end, random);
  }, SEEDS.bytes);
  // Unsigned places are few, and those that count are found.
  expect(counts.broken).toBeGreaterThan(CASES * 2);
  expect(counts.trusted).toBeGreaterThan(0);
});

it('parts of the signature changed, doubled, taken out and exchanged', async () => {
  const counts = await attack((subject, random) => subject.with(mutateStructure(subject.cms, random)), SEEDS.structure);
  expect(counts.broken).toBeGreaterThan(CASES * 2);
  expect(counts.trusted).toBeGreaterThan(0);
});
