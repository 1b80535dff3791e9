/** Reads a finished signature from a DER or PEM file, and embeds it in another file. */

import type { Readable } from 'node:stream';
import { isSameBytes } from '../../bytes/byte-source.ts';
import { textOf } from '../../certificates/certificate-files.ts';
import { parseSignedData } from '../../cms/parse-signed-data.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { asClause, isAgainst } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, requireCapability, signingOf } from '../../format/format.ts';
import type { Expected, SignableFile } from '../../format/signable-file.ts';
import { withNested } from '../../format/signature.ts';
import { changeEach } from '../change-each.ts';
import { signingErrors } from '../errors.ts';
import { signerNames } from '../existing-signatures.ts';
import { commit, openOriginal, reopenCopy, writtenOutcome } from '../files/commit.ts';
import { openFile } from '../files/open-file.ts';
import type { AttachedOutcome, ChangeFilesResult, FileToSign } from '../outcome.ts';
import { planFiles } from '../plan-files.ts';
import { type PlannedFile, WITHOUT_SIGNATURE } from '../planned-file.ts';
import { type Run, type StartedRun, startRun } from '../run.ts';

export async function attachSignature(
  files: readonly FileToSign[],
  cms: Uint8Array,
  given: Run,
  signal?: AbortSignal,
): Promise<ChangeFilesResult> {
  const signer = parseSignedData(cms).signers[0].name;
  using run = startRun(given, signal);
  const planned = await planFiles(files, run, async () => ({ ...WITHOUT_SIGNATURE, skipped: undefined }));
  const outcomes = await changeEach(planned, run, (plan) => attachTo(plan, cms, signer, run));
  return { files: outcomes, warnings: run.listenerWarnings };
}

async function attachTo(plan: PlannedFile, cms: Uint8Array, signer: string, run: StartedRun): Promise<AttachedOutcome> {
  await using file = await openFile(plan, run);
  const { embedding, replaced } = await prepare(await openOriginal(plan, file), plan.format, cms);
  const { patch, ...expected } = embedding;
  await file.copy.apply(patch);
  const checking = reopenCopy(plan, file).then((result) => checkPlaced(result, plan.format, expected));
  const written = await commit(plan, file, checking, run);
  return { ...writtenOutcome(plan, written), status: 'attached', signer, replaced };
}

async function prepare(opened: SignableFile, format: Format, cms: Uint8Array) {
  const attaching = requireCapability(opened.attaching, 'given a signature', format);
  // Keeps only the digests. A signature may be 16 MB long, and attaching reads all signatures again.
  const before = (await opened.signatures()).map((old) => ({
    names: signerNames([old]),
    digest: fingerprintOf(old.envelope.bytes),
  }));
  const embedding = await attaching.place({ kind: 'cms', bytes: cms });
  const staying = new Set(embedding.envelopes.map(({ bytes }) => fingerprintOf(bytes)));
  const replaced = before.flatMap(({ names, digest }) => (staying.has(digest) ? [] : names));
  return { embedding, replaced: [...new Set(replaced)] };
}

/** No file format allows a longer signature, and real signatures are much shorter. */
const MAX_SIGNATURE_LENGTH = 16 * 1024 * 1024;
const SEQUENCE = 0x30;
/** PEM labels from RFC 7468, sections 8 and 9, and the label that OpenSSL writes. */
const LABELS: readonly string[] = ['PKCS7', 'CMS', 'PKCS #7 SIGNED DATA'];
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 #]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;
/** A signature that was extracted from a Windows program may end with padding. */
const MOST_PADDING = 7;

export async function readSignatureFile(open: () => Promise<Readable>, name: string): Promise<Uint8Array> {
  const bytes = await readBounded(open, name);
  if (bytes.length === 0) throw unusable(name, 'it is empty');
  const cms = bytes[0] === SEQUENCE ? bytes : fromPem(textOf(bytes), name);
  try {
    const { bytes: exact, trailingLength } = parseSignedData(cms);
    const rest = cms.subarray(exact.length);
    if (trailingLength > MOST_PADDING || rest.some((byte) => byte !== 0)) {
      throw unusable(name, `the signature is followed by ${plural(trailingLength, 'byte')}`);
    }
    return exact;
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code === 'signature-file-unusable') throw thrown;
    throw unusable(name, thrown.message, thrown);
  }
}

async function readBounded(open: () => Promise<Readable>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of await open()) {
      chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      length += chunk.length;
      if (length > MAX_SIGNATURE_LENGTH) break;
    }
  } catch (thrown) {
    throw signingErrors('signature-file-unreadable', { file: name, reason: systemReason(thrown) }, { cause: thrown });
  }
  if (length > MAX_SIGNATURE_LENGTH) {
    throw signingErrors('signature-file-too-large', { file: name, limit: MAX_SIGNATURE_LENGTH });
  }
  return Buffer.concat(chunks);
}

function fromPem(text: string, name: string): Uint8Array {
  const blocks = [...text.matchAll(PEM_BLOCK)];
  const [block, ...others] = blocks.filter(([, label = '']) => LABELS.includes(label));
  if (others.length > 0) throw unusable(name, `it contains ${others.length + 1} signatures`);
  if (block !== undefined) return Buffer.from(block[2] ?? '', 'base64');
  const [, label] = blocks[0] ?? [];
  throw unusable(name, label === undefined ? 'it is neither DER nor PEM' : `it is PEM of another kind (${label})`);
}

function unusable(file: string, problem: string, cause?: unknown): CodesignError {
  return signingErrors('signature-file-unusable', { file, problem }, { cause });
}

/** Findings about weak algorithms do not mean that the signature was made for another file. */
const WEAK: readonly string[] = ['digest-algorithm-weak', 'key-too-short'];

/** Throws `not-its-signature` if the signature was made for another file: a format embeds any signature. */
export async function checkPlaced(
  result: Pick<SignableFile, 'signatures' | 'signing'>,
  format: Pick<Format, 'title'>,
  expected: Expected,
): Promise<void> {
  const isPlaced = ({ envelope }: { readonly envelope: { readonly bytes: Uint8Array } }): boolean =>
    expected.added.some(({ bytes }) => isSameBytes(envelope.bytes, bytes));
  for (const signature of withNested((await result.signatures()).filter(isPlaced))) {
    const findings = await signature.examine();
    const problem = findings.find((finding) => isAgainst(finding, 'integrity') && !WEAK.includes(finding.code));
    if (problem !== undefined) throw formatErrors('not-its-signature', { reason: asClause(problem) });
  }
  await signingOf(result, format).verify(expected);
}
