import { DIGEST_NAME_BY_OID } from '../../../asn1/algorithm-identifiers.ts';
import { isReadableCertificate } from '../../../certificates/certificate.ts';
import { keyOf } from '../../../cms/verify-signer.ts';
import type { WorkBudget } from '../../../crypto/work-budget.ts';
import {
  broken,
  type Finding,
  hasFindingAgainst,
  note,
  rejected,
  unsupported,
  warning,
} from '../../../errors/finding.ts';
import { plural } from '../../../errors/plural.ts';
import { examineUnread } from '../../../format/cms.ts';
import { type Timestamp, usesSha1 } from '../../../timestamp/timestamp.ts';
import type { ZipEntry } from '../../../zip/directory.ts';
import type { ContentInfo, ContentState } from '../content-info.ts';
import type { JarLayout } from '../layout.ts';
import { inWords, listingOf } from '../listing.ts';
import type { Disagreement, ManifestCache } from '../manifest/agreement.ts';
import { type DigestStrength, strengthOf } from '../manifest/digest-names.ts';
import type { EmbeddedBlock } from './blocks.ts';
import { JAR_PROFILE } from './new-signature.ts';
import type { Coverage, InfoOf } from './signature-file-info.ts';

export interface SharedInfo {
  readonly layout: JarLayout;
  readonly budget: WorkBudget;
  knownManifest(): ManifestCache | undefined;
  readonly infoOf: InfoOf;
  manifestAlgorithms(): readonly (readonly string[])[];
  contents(): Promise<ContentInfo>;
}

/** Java ignores SHA-1 without a timestamp from before this date (`jdk.jar.disabledAlgorithms`). */
const END_OF_SHA1 = new Date('2019-01-01T00:00:00Z');
/** Shortest RSA and DSA keys that `jdk.jar.disabledAlgorithms` permits, in bits. */
const SHORTEST_KEY = 1024;

export async function examineSignature(
  block: EmbeddedBlock,
  timestampsOfSigners: readonly (readonly Timestamp[])[],
  shared: SharedInfo,
): Promise<readonly Finding[]> {
  const { layout } = shared;
  const timestamps = timestampsOfSigners.flat();
  const signatureFile = block.readSignatureFile();
  const ofBlock = [...blockFindings(block, timestamps)];
  const { name } = block.signatureFileEntry;
  if (signatureFile === undefined || block.signedFile.length === 0) {
    return [...ofBlock, broken('signature-file-unreadable', `${name} cannot be read.`)];
  }
  if (layout.manifest === undefined) return [...ofBlock, broken('manifest-missing', 'The archive has no manifest.')];
  const info = shared.infoOf(signatureFile);
  const disagreement = info.disagreement();
  const contents = await shared.contents();
  const weaknesses = [
    ...weakSigners(block),
    ...(disagreement === undefined ? [{ strength: info.strength(), what: name }] : []),
    ...weakContents(info.coverage(), contents, layout),
    ...weakTimestamps(timestamps),
  ];
  return [
    ...ofBlock,
    ...(disagreement === undefined ? [] : [disagreementFinding(disagreement, name, shared)]),
    ...contentsFindings(info.coverage(), contents, layout),
    ...weaknessFindings(weaknesses, timestampsOfSigners),
  ];
}

function* blockFindings(block: EmbeddedBlock, timestamps: readonly Timestamp[]): Generator<Finding> {
  yield* block.examineSigners();
  const trailingLength = block.signedData?.trailingLength ?? 0;
  if (trailingLength > 0) {
    const message = `The signature in ${block.entry.name} is followed by ${plural(trailingLength, 'byte')}.`;
    yield note('bytes-after-signature', message);
  }
  const attributes = (block.signedData?.signers ?? []).flatMap(({ unsignedAttributes }) => unsignedAttributes);
  yield* examineUnread(JAR_PROFILE, attributes);
  const unreadable = [block.signedData, ...timestamps].flatMap((from) =>
    (from?.certificates ?? []).filter((der) => !isReadableCertificate(der)),
  );
  if (unreadable.length > 0) {
    const message = `${block.entry.name} contains an invalid certificate, so Java ignores the signature.`;
    yield broken('block-certificate-unreadable', message);
  }
  for (const bits of shortKeys(block)) {
    const message = `The signer's key has ${bits} bits; Java ignores signatures made with fewer than ${SHORTEST_KEY} bits.`;
    yield broken('key-too-short', message);
  }
}

function shortKeys({ signedData }: EmbeddedBlock): readonly number[] {
  return (signedData?.signers ?? []).flatMap(({ certificate }) => {
    const bits = certificate && keyOf(certificate)?.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < SHORTEST_KEY ? [bits] : [];
  });
}

function disagreementFinding({ part, name = '' }: Disagreement, signatureFile: string, shared: SharedInfo): Finding {
  if (part === 'version') {
    const message = `${signatureFile} does not have Signature-Version 1.0, the only known version.`;
    return unsupported('signature-version-unknown', message);
  }
  if (part === 'algorithms') {
    const message = `${signatureFile} has only manifest digests with unknown or disabled algorithms, which Java does not accept.`;
    return unsupported('manifest-digest-unusable', message);
  }
  const what = part === 'section' ? `section for ${name}` : 'main section';
  const isGone = part === 'section' && shared.knownManifest()?.sections().has(name) !== true;
  const problem = isGone ? `no longer has a ${what}` : `has a ${what} that differs from the signed one`;
  return broken('manifest-digest-differs', `The manifest ${problem}.`);
}

function* contentsFindings({ covers, uncovered, removed }: Coverage, contents: ContentInfo, layout: JarLayout) {
  if (removed.count > 0) {
    yield broken('entries-removed', `Signed files were removed from the archive: ${inWords(removed)}.`);
  }
  if (uncovered.count > 0) {
    yield broken('entries-unsigned', `The signature does not cover ${inWords(uncovered)}.`);
  }
  const { damaged, stateOf } = contents;
  const inState = (state: ContentState) =>
    listingOf(layout.signable, (entry) => covers(entry) && stateOf(entry) === state);
  if (damaged !== undefined) {
    yield rejected(damaged, damaged.code, `The contents cannot be checked: ${damaged.message}.`);
    return;
  }
  const without = inState('without digest');
  if (without.count > 0) {
    yield broken('entries-unsigned', `The manifest has no digest of ${inWords(without)}.`);
  }
  const wrong = inState('wrong');
  if (wrong.count > 0) {
    yield broken('content-digest-differs', `The contents differ from the signed ones: ${inWords(wrong)}.`);
  }
}

interface Weakness {
  readonly strength: DigestStrength;
  readonly what: string;
}

function weakSigners({ signedData }: EmbeddedBlock): readonly Weakness[] {
  return (signedData?.signers ?? []).map(({ digestAlgorithm }) => ({
    strength: strengthOf(DIGEST_NAME_BY_OID[digestAlgorithm] ?? ''),
    what: 'the signature value',
  }));
}

function weakContents({ covers }: Coverage, contents: ContentInfo, { signable }: JarLayout): readonly Weakness[] {
  return (['dated', 'weak'] as const).flatMap((strength) => {
    const isSuch = (entry: ZipEntry): boolean =>
      covers(entry) && contents.stateOf(entry) !== 'without digest' && contents.strengthOf(entry) === strength;
    const such = listingOf(signable, isSuch);
    return such.count === 0 ? [] : [{ strength, what: inWords(such) }];
  });
}

function weakTimestamps(timestamps: readonly Timestamp[]): readonly Weakness[] {
  const isWeak = timestamps.some((timestamp) => isSound(timestamp) && usesSha1(timestamp));
  return isWeak ? [{ strength: 'dated', what: 'the timestamp' }] : [];
}

/** Java accepts SHA-1 if a timestamp shows that the signature was made before 2019. */
function* weaknessFindings(
  weaknesses: readonly Weakness[],
  timestampsOfSigners: readonly (readonly Timestamp[])[],
): Generator<Finding> {
  // One signer without a timestamp from before 2019 is enough for Java to reject SHA-1.
  const isOld = timestampsOfSigners.length > 0 && timestampsOfSigners.every((each) => each.some(isSoundAndOld));
  for (const [strength, algorithm] of [
    ['weak', 'MD5'],
    ['dated', 'SHA-1'],
  ] as const) {
    const what = weaknesses.filter((each) => each.strength === strength).map((each) => each.what);
    if (what.length === 0) continue;
    const until = strength === 'dated' ? ' without a timestamp from before 2019' : '';
    const message = `Only ${algorithm}, which Java ignores${until}, protects ${[...new Set(what)].join(', ')}.`;
    yield (strength === 'dated' && isOld ? warning : broken)('digest-algorithm-weak', message);
  }
}

/** A timestamp from before 2019 may use SHA-1 too, so warnings do not matter. */
function isSoundAndOld(timestamp: Timestamp): boolean {
  const { kind, time } = timestamp;
  return kind === 'rfc3161' && time !== undefined && time < END_OF_SHA1 && isSound(timestamp);
}

function isSound({ findings }: Timestamp): boolean {
  return !hasFindingAgainst(findings, 'integrity');
}
