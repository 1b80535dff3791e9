import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container, MeasuredContent } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { asClause, broken, type Finding } from '../../errors/finding.ts';
import { INNER_PACKAGES, isGiven } from '../../format/options.ts';
import type { ContentReader, SignableFile, SigningContext } from '../../format/signable-file.ts';
import { archiveBody, editLastEntry, replacedBy } from '../../zip/edit-archive.ts';
import { withoutDisks } from '../../zip/end-record.ts';
import { plainlyDeflatedEntry } from '../../zip/write-records.ts';
import { zipContents } from '../zip-contents.ts';
import { bundleOf, type OpenedPackage } from './bundle/bundle.ts';
import { checkPackagesSigned, listed, storedPackages } from './bundle/packages.ts';
import { rewriteBundle } from './bundle/rewrite.ts';
import { describeList, measurePackage, type SignedBody } from './content.ts';
import { appxErrors, appxWarnings } from './errors.ts';
import { describePackage, examineContents, examinePackage } from './examine.ts';
import { type AppxPackage, readPackage, signatureContents } from './package.ts';
import { PARTS } from './part-names.ts';
import { isOtherSpelling, subjectText } from './publisher.ts';

const SIPS: Readonly<Record<AppxPackage['kind'], Sip>> = {
  package: { version: [1, 1, 0, 0], guid: '0AC5DF4B-CE07-4DE2-B76E-23C839A09FD1' },
  bundle: { version: [1, 1, 0, 0], guid: '0F5F58B3-AADE-4B9A-A434-95742D92ECEB' },
};

export async function openAppx(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  return signablePackage(await readPackage(source), source, reader);
}

function signablePackage(opened: AppxPackage, source: ByteSource, reader: ContentReader): OpenedPackage {
  const { algorithm } = opened;
  const isBundle = opened.kind === 'bundle';
  const bundle = bundleOf(opened, source, reader, signablePackage);
  const file = authenticodeFile(signaturePart(opened, source, reader, bundle.damageOf), reader.budget);
  return {
    ...file,
    signing: {
      ...file.signing,
      fixedAlgorithm: { algorithm, reason: 'the block map uses it' },
      unusedOptions: isBundle ? [] : [INNER_PACKAGES],
      async check(context, mode) {
        checkPublisher(opened, context);
        const inside = isGiven(context.formatOptions, INNER_PACKAGES) ? await bundle.check(context) : NOTHING_INSIDE;
        if (!inside.isSigned) await checkPackagesSigned(source, opened);
        checkPlaces(opened, inside.isSigned);
        if (!inside.isSigned) await checkContents(opened, source, bundle.damageOf);
        const { warnings, ...preview } = await file.signing.check(context, mode);
        const kept = inside.kept.length === 0 ? [] : [appxWarnings('packages-kept', { names: listed(inside.kept) })];
        return { ...preview, warnings: [...warnings, ...kept] };
      },
      async verify(expected) {
        await file.signing.verify(expected);
        if (isBundle) await bundle.verifyPlaces();
      },
    },
    contents: {
      ...zipContents(source, opened.archive),
      changing: isBundle
        ? {
            entries: () => storedPackages(source, opened),
            write: (patches) => rewriteBundle(source, opened, patches),
          }
        : undefined,
    },
    layout: () => describePackage(opened),
  };
}

const NOTHING_INSIDE = { isSigned: false, kept: [] };

function checkPublisher({ manifest: { publisher }, manifestPart }: AppxPackage, { chain }: SigningContext): void {
  const subject = subjectText(chain.leaf.der);
  if (publisher === subject) return;
  throw appxErrors('appx-publisher-differs', {
    part: manifestPart.entry.name,
    publisher: JSON.stringify(publisher),
    subject: JSON.stringify(subject),
    spelling: isOtherSpelling(publisher, subject) ? ', which is spelled differently' : '',
  });
}

/** Throws if Windows would reject the package even with a valid signature. */
async function checkContents(...what: Parameters<typeof examineContents>): Promise<void> {
  const [finding] = await examineContents(...what);
  if (finding !== undefined) throw appxErrors('appx-malformed', { problem: asClause(finding) });
}

/** Checks that the parts that signing makes longer are stored after the packages. */
function checkPlaces(
  { manifest, manifestPart, blockMap, contentTypes, archive }: AppxPackage,
  isRewritten: boolean,
): void {
  const growing = [
    ...(contentTypes.namesSignature ? [] : [contentTypes]),
    ...(isRewritten ? [manifestPart, blockMap] : []),
  ];
  const offsets = manifest.packages.map(({ name }) => archive.byName.get(name)?.offset ?? 0);
  const first = growing.find(({ entry }) => offsets.some((offset) => entry.offset < offset));
  if (first !== undefined) throw appxErrors('appx-packages-move', { part: first.entry.name });
}

interface MeasuredPackage extends MeasuredContent {
  readonly body: SignedBody;
}

function signaturePart(
  opened: AppxPackage,
  source: ByteSource,
  { measure }: ContentReader,
  damageOf: Parameters<typeof examinePackage>[2],
): Container<MeasuredPackage> {
  const { kind, algorithm, signature, manifest } = opened;
  const sip = SIPS[kind];
  return {
    source,
    kind: { ...sipKind(sip, kind === 'bundle' ? 'a bundle of packages' : 'a package'), describeDigest: describeList },
    reasonForOneSignature: 'a package can have only one signature',
    entries: signature === undefined ? [] : [{ location: PARTS.signature, cms: signature.cms }],
    async measure(content, algorithms) {
      const body = content === 'present' ? bodyWith(opened) : bodyWithSignature(opened);
      return { digests: await measurePackage(source, body, opened, algorithms, measure), body };
    },
    content: async () => spcSipInfo(sip),
    async compare({ contentDigestAlgorithm, signedData }): Promise<readonly Finding[]> {
      const findings: Finding[] = [];
      if (contentDigestAlgorithm !== algorithm) {
        const message = `The block map uses ${algorithm}, but the signature uses another algorithm.`;
        findings.push(broken('block-map-algorithm-differs', message));
      }
      const { certificate } = signedData.signers[0];
      const subject = certificate && orUndefined(() => subjectText(certificate));
      if (subject !== undefined && subject !== manifest.publisher) {
        const message = `The publisher in the manifest (${manifest.publisher}) differs from the subject of the certificate (${subject}).`;
        findings.push(broken('publisher-differs', message));
      }
      return findings;
    },
    write: (cms, { body }) => editLastEntry(body, plainlyDeflatedEntry(PARTS.signature, signatureContents(cms))),
    async removeAll() {
      if (signature === undefined) return undefined;
      const { contentTypes } = opened;
      return editLastEntry(bodyWith(opened, contentTypes.namesSignature ? contentTypes.withoutSignature() : undefined));
    },
    examine: () => examinePackage(opened, source, damageOf),
  };
}

/** Like signtool, lists the signature in the content types, and sets the disk fields to zero. */
function bodyWithSignature(opened: AppxPackage): SignedBody {
  const { contentTypes, archive } = opened;
  const plain = { ...opened, archive: { ...archive, end: withoutDisks(archive.end) } };
  return bodyWith(plain, contentTypes.namesSignature ? undefined : contentTypes.withSignature());
}

function bodyWith(
  { archive, signature, contentTypes: { entry, bytes } }: AppxPackage,
  newTypes?: Uint8Array,
): SignedBody {
  const types = newTypes ? [replacedBy(entry, plainlyDeflatedEntry(PARTS.contentTypes, newTypes))] : [];
  return { ...archiveBody(archive, signature?.entry, types), contentTypes: newTypes ?? bytes };
}
