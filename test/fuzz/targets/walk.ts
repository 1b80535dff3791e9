/** Everything that the program does with a file, in memory: read, examined, signed, checked, stamped, cleaned. */

import { crc32 } from 'node:zlib';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import type { Patch } from '../../../src/bytes/pieces.ts';
import { type Finding, isBroken } from '../../../src/errors/finding.ts';
import type { Format } from '../../../src/format/format.ts';
import type { Embedding, SignableFile, SigningMode } from '../../../src/format/signable-file.ts';
import { cmsEnvelope, type FoundSignature, withNested } from '../../../src/format/signature.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { pe } from '../../../src/formats/pe/index.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { verifyContents } from '../../../src/signing/files/contained.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../../unit/formats/support/apply-patch.ts';
import {
  checkIn,
  placeIn,
  removalOf,
  sealedBy,
  signingIn,
  stampIn,
  wholeStamping,
} from '../../unit/formats/support/change.ts';
import { isIntact } from '../../unit/formats/support/is-intact.ts';
import { openBytes } from '../../unit/formats/support/sign-bytes.ts';
import { withSignedContents } from '../../unit/formats/support/signed-contents.ts';
import type { Bases } from '../bases.ts';
import { answering, Fault, require, requireSaid } from '../check-case.ts';

export interface Walk {
  readonly format: Format;
  readonly signer: ThrowawaySigner;
  /** Of a signed file among the bases; both are put into the others. */
  readonly otherCms: Uint8Array;
  readonly otherToken: Uint8Array;
  /** Codes of what `check` alone looks at. */
  readonly rejectedByCheck?: RegExp | undefined;
  /** Throws where anything but what signing may change has changed. */
  requireUntouched(before: Uint8Array, after: Uint8Array): Promise<void>;
  /** Given for every second file. */
  readonly options?: Readonly<Record<string, true>> | undefined;
  readonly sample: (bytes: Uint8Array) => void;
}

/** What it is requested is chosen by the bytes, so that a case is the same each time. */
export async function walkFile(walk: Walk, bytes: Uint8Array): Promise<string> {
  const { format } = walk;
  await answering(() => recogniseFormat(memorySource(bytes), ['a.jar'], { formats: [format] }));
  const opened = await answering(() => openBytes(format, bytes));
  if ('code' in opened) return opened.code;
  const file = opened.value;
  for (const detail of file.layout()) requireSaid(detail.value, detail.name);
  const signatures = await readSignatures(file);
  requireFindings((await orNothing(() => file.examine())) ?? []);
  await tryRemoving(format, file, bytes);
  await tryChanging(walk, file, bytes, signatures);
  const mode = crc32(bytes) % 2 === 0 ? 'replace' : 'append';
  const word = await trySigning(walk, file, bytes, mode);
  return signatures.length > 0 ? `${word}, with signatures` : word;
}

export async function prepareWalk(bases: Bases, rest: Omit<Walk, 'signer' | 'otherCms' | 'otherToken'>): Promise<Walk> {
  const [format, name] = rest.format === jar ? [jar, 'stamped.jar'] : [pe, 'stamped.exe'];
  const [other] = await (await openBytes(format, bases.read(`fuzz/base-${name}`))).signatures();
  return {
    ...rest,
    signer: await makeThrowawaySigner(),
    otherCms: other?.envelope.bytes ?? new Uint8Array(),
    otherToken: other?.timestamps[0]?.bytes ?? new Uint8Array(),
  };
}

async function orNothing<T>(work: () => Promise<T>): Promise<T | undefined> {
  const answer = await answering(work);
  return 'value' in answer ? answer.value : undefined;
}

async function readSignatures(file: SignableFile): Promise<readonly FoundSignature[]> {
  const signatures = withNested((await orNothing(() => file.signatures())) ?? []);
  for (const signature of signatures) {
    await answering(() => signature.details());
    requireFindings((await orNothing(() => signature.examine())) ?? []);
    for (const { findings } of signature.timestamps) requireFindings(findings);
    requireSaid(signature.location, 'place');
    await answering(() => signature.algorithm);
  }
  return signatures;
}

function requireFindings(findings: readonly Finding[]): void {
  for (const { message, code } of findings) requireSaid(message, code);
}

async function tryRemoving(format: Format, file: SignableFile, bytes: Uint8Array): Promise<void> {
  const patch = await orNothing(() => removalOf(file));
  if (patch === undefined) return;
  const before = await file.signatures();
  const removed = (await file.removing?.signatures()) ?? before;
  const cleaned = await openBytes(format, patched(bytes, patch));
  require((await cleaned.signatures()).length ===
    before.length - removed.length, 'a signature is left after all were removed');
}

async function tryChanging(
  { format, otherCms, otherToken }: Walk,
  file: SignableFile,
  bytes: Uint8Array,
  signatures: readonly FoundSignature[],
): Promise<void> {
  await tryEmbedding(format, bytes, () => placeIn(file, cmsEnvelope(otherCms)));
  const [first] = signatures;
  if (first === undefined) return;
  // What is there already goes in again.
  await tryEmbedding(format, bytes, () => placeIn(file, first.envelope));
  // As the command does, which asks no authority about what is broken.
  for (const signature of signatures) if (!(await isIntact(signature))) return;
  await tryEmbedding(format, bytes, async () => {
    if (file.stamping?.of === 'each-signature') return stampIn(file, new Map([[first, otherToken]]));
    const prepared = await wholeStamping(file).prepare('SHA256', true);
    if (prepared === undefined) throw new TypeError('a forced timestamp is prepared');
    return prepared.embed(otherToken);
  });
}

/** Nothing was paid for it: its own check may still refuse what comes of a file that was odd before. */
async function tryEmbedding(format: Format, bytes: Uint8Array, make: () => Promise<Embedding>): Promise<void> {
  const embedding = await orNothing(make);
  if (embedding === undefined) return;
  const result = patched(bytes, embedding.patch);
  await answering(async () => signingIn(await openBytes(format, result)).verify(embedding));
}

async function trySigning(walk: Walk, file: SignableFile, bytes: Uint8Array, mode: SigningMode): Promise<string> {
  const { format, signer } = walk;
  const algorithm = signingIn(file).fixedAlgorithm?.algorithm ?? 'SHA256';
  const options = crc32(bytes) % 4 < 2 ? walk.options : undefined;
  const context = signingContext({ algorithm, chain: signer.chain }, { description: 'A program', ...options });
  const outcome = await answering(() => signingIn(file).check(context, mode));
  // What `check` accepts must be fit to be signed.
  const contents = 'code' in outcome ? undefined : await withSignedContents(format, file, bytes, context, signer);
  const prepared = await answering(() => signingIn(contents?.file ?? file).prepare(context, mode));
  if ('code' in outcome) {
    const isOfCheck = walk.rejectedByCheck?.test(outcome.code) ?? false;
    require('code' in prepared || isOfCheck, `rejected with ${outcome.code}, but prepared`);
    return outcome.code;
  }
  const kept = await answering(() => checkIn(file, format, context, mode));
  if ('code' in kept) return kept.code;
  for (const warning of outcome.value.warnings) requireSaid(warning, 'warning');
  if ('code' in prepared) return prepared.code;
  const sealed = sealedBy(signer, prepared.value);
  const embedding = prepared.value.embed(sealed);
  const result = patched(bytes, contents?.original(embedding.patch) ?? embedding.patch);
  // From here on nothing may refuse any more: the signature is paid for.
  const reopened = await openBytes(format, result);
  await signingIn(reopened).verify(embedding);
  if (contents) await verifyContents(reopened, contents.toChange, contents.inner, { digestEntries });
  const mine = withNested(await reopened.signatures()).find(
    ({ envelope }) => Buffer.compare(envelope.bytes, sealed[0].bytes) === 0,
  );
  require(mine !== undefined, 'the new signature is not in the result');
  if (!(await isIntact(mine))) {
    const findings = (await mine.examine()).map(({ code }) => code);
    throw new Fault(`the new signature does not hold: ${findings.join(', ')}`);
  }
  const findings = await reopened.examine();
  requireFindings(findings);
  const objection = findings.find(isBroken);
  require(objection === undefined, `the result is broken: ${objection?.code}`);
  if (contents === undefined || contents.inner.size === 0) await walk.requireUntouched(bytes, result);
  walk.sample(result);
  return `signed, ${mode}`;
}

function patched(bytes: Uint8Array, patch: Patch): Buffer {
  try {
    return applyPatch(bytes, patch);
  } catch (cause) {
    throw new Fault('a patch that does not fit the file', { cause });
  }
}
