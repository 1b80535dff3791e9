/** An open package or bundle: AppxSignature.p7x contains one Authenticode signature. */

import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import { type Container, digestIn, type MeasuredContent } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import { spcContent } from '../../authenticode/spc-structures.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { asClause, broken, type Finding } from '../../errors/finding.ts';
import { formatErrors } from '../../format/errors.ts';
import { isGiven } from '../../format/options.ts';
import type { ContentReader, SignableFile, SigningContext } from '../../format/signable-file.ts';
import { archiveBody, editLastEntry, replacedBy } from '../../zip/edit-archive.ts';
import { withoutDisks } from '../../zip/end-record.ts';
import { plainlyDeflatedEntry } from '../../zip/write-records.ts';
import { fixedBy, innerFilesOf, type OpenedPackage } from './bundle/inner-files.ts';
import { listed, unsignedPackages } from './bundle/packages.ts';
import type { RewrittenEntries } from './bundle/rewrite.ts';
import { describeList, measurePackage, type SignedBody } from './content.ts';
import { appxErrors } from './errors.ts';
import { describePackage, examineContents, examinePackage } from './examine.ts';
import { INNER_PACKAGES } from './options.ts';
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
  const inside = innerFilesOf(opened, source, reader, signablePackage);
  const partWith = (rewritten: RewrittenEntries | undefined) =>
    authenticodeFile(signaturePart(opened, source, reader, inside.damageOf, rewritten), reader.budget);
  const file = partWith(undefined);
  return {
    ...file,
    signing: {
      fixedAlgorithm: fixedBy(algorithm),
      unusedOptions: opened.kind === 'package' ? [INNER_PACKAGES] : [],
      async check(context, mode) {
        checkPublisher(opened, context);
        const signsInside = isGiven(context.formatOptions, INNER_PACKAGES) && (await inside.check(context));
        if (!signsInside) await checkPackagesSigned(opened, source);
        checkPlaces(opened, signsInside);
        if (!signsInside) await checkContents(opened, source, inside.damageOf);
        return await file.signing.check(context, mode);
      },
      inner: ({ formatOptions }) => inside.list(isGiven(formatOptions, INNER_PACKAGES)),
      async prepare(context, mode, inner = new Map()) {
        if (inner.size === 0) return await file.signing.prepare(context, mode);
        const prepared = await partWith(await inside.rewrite(inner)).signing.prepare(context, mode);
        return { ...prepared, embed: (sealed) => ({ ...prepared.embed(sealed), inner }) };
      },
      async verify(expected) {
        await file.signing.verify(expected);
        if (expected.inner !== undefined) await inside.verify(expected.inner);
      },
    },
    layout: () => describePackage(opened),
  };
}

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

async function checkPackagesSigned(opened: AppxPackage, source: ByteSource): Promise<void> {
  const unsigned = await unsignedPackages(source, opened);
  if (unsigned.length > 0) throw appxErrors('appx-packages-unsigned', { names: listed(unsigned) });
}

/** Throws if Windows would reject the package, signed or not. */
async function checkContents(...what: Parameters<typeof examineContents>): Promise<void> {
  const [finding] = await examineContents(...what);
  if (finding !== undefined) throw appxErrors('appx-malformed', { problem: asClause(finding) });
}

/** All packages must come before every part that signing makes longer. Throws `appx-packages-move`. */
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
  rewritten: RewrittenEntries | undefined,
): Container<MeasuredPackage> {
  const { kind, algorithm, signature, manifest } = opened;
  const sip = SIPS[kind];
  return {
    source,
    warnings: [],
    kind: { ...sipKind(sip, kind === 'bundle' ? 'a bundle of packages' : 'a package'), describeDigest: describeList },
    reasonForOneSignature: 'a package holds one signature',
    reasonNotRewritable: undefined,
    entries: async () =>
      signature === undefined ? [] : [{ location: PARTS.signature, cms: signature.cms, examine: async () => [] }],
    async measure(content, algorithms) {
      const body = content === 'present' ? bodyWith(opened) : bodyWithSignature(opened, rewritten);
      return { digests: await measurePackage(source, body, opened, algorithms, measure), body };
    },
    content: async ({ algorithm }, measured) => spcContent(spcSipInfo(sip), algorithm, digestIn(measured, algorithm)),
    async compare({ contentDigestAlgorithm, signedData }): Promise<readonly Finding[]> {
      const findings: Finding[] = [];
      if (contentDigestAlgorithm !== algorithm) {
        const message = `The block map uses ${algorithm}, and the signature another algorithm.`;
        findings.push(broken('block-map-algorithm-differs', message));
      }
      const { certificate } = signedData.signers[0];
      const subject = certificate && orUndefined(() => subjectText(certificate));
      if (subject !== undefined && subject !== manifest.publisher) {
        const message = `The publisher in the manifest, ${manifest.publisher}, is not the subject of the certificate, ${subject}.`;
        findings.push(broken('publisher-differs', message));
      }
      return findings;
    },
    write: (cms, { body }) => editLastEntry(body, plainlyDeflatedEntry(PARTS.signature, signatureContents(cms))),
    async removeAll() {
      if (signature === undefined) throw formatErrors('not-signed');
      const { contentTypes } = opened;
      return editLastEntry(bodyWith(opened, contentTypes.namesSignature ? contentTypes.withoutSignature() : undefined));
    },
    examine: () => examinePackage(opened, source, damageOf),
  };
}

/** Like signtool, lists the signature in the content types and sets all disk numbers to zero. */
function bodyWithSignature(opened: AppxPackage, rewritten: RewrittenEntries | undefined): SignedBody {
  const { contentTypes, archive } = opened;
  const plain = { ...opened, archive: { ...archive, end: withoutDisks(archive.end) } };
  return bodyWith(plain, contentTypes.namesSignature ? undefined : contentTypes.withSignature(), rewritten);
}

function bodyWith(
  { archive, signature, contentTypes: { entry, bytes }, blockMap }: AppxPackage,
  newTypes?: Uint8Array,
  rewritten: RewrittenEntries = { replaced: [], blockMap: blockMap.bytes },
): SignedBody {
  const types = newTypes ? [replacedBy(entry, plainlyDeflatedEntry(PARTS.contentTypes, newTypes))] : [];
  return {
    ...archiveBody(archive, signature?.entry, [...rewritten.replaced, ...types]),
    contentTypes: newTypes ?? bytes,
    blockMap: rewritten.blockMap,
  };
}
