/** A package or bundle that is open: AppxSignature.p7x as a container of one Authenticode signature. */

import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import { type Container, digestIn } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import { spcContent } from '../../authenticode/spc-structures.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import { archiveBody, editLastEntry } from '../../zip/last-entry.ts';
import { plainlyDeflatedEntry } from '../../zip/new-entry.ts';
import { formatErrors } from '../errors.ts';
import type { ContentReader, SignableFile, SigningContext } from '../format.ts';
import { listed, unsignedPackages } from './bundle.ts';
import { describeList, measurePackage, type SignedBody } from './content.ts';
import { appxErrors } from './errors.ts';
import { describePackage, examinePackage } from './examine.ts';
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

function signablePackage(opened: AppxPackage, source: ByteSource, reader: ContentReader): SignableFile {
  const { wrongSizes, algorithm } = opened;
  const file = authenticodeFile(signaturePart(opened, source, reader), reader.budget);
  return {
    ...file,
    fixedAlgorithm: { algorithm, reason: 'it is the one of the block map' },
    async check(context, mode) {
      await requireSignable(opened, source, context);
      await file.check(context, mode);
    },
    warnings:
      wrongSizes.length === 0
        ? []
        : [`The block map does not fit the package, so Windows may not install it: ${listed(wrongSizes)}.`],
    reopen: (other, otherReader) => signablePackage(opened, other, otherReader),
    layout: () => describePackage(opened),
  };
}

/** Throws `appx-publisher-differs`, `appx-packages-unsigned`, `appx-packages-move`. */
async function requireSignable(opened: AppxPackage, source: ByteSource, { chain }: SigningContext): Promise<void> {
  const { manifest, manifestName, contentTypes, archive } = opened;
  const { publisher } = manifest;
  const subject = subjectText(chain.leaf.der);
  if (publisher !== subject) {
    const spelling = isOtherSpelling(publisher, subject) ? ', which is spelled differently' : '';
    throw appxErrors('appx-publisher-differs', {
      part: manifestName,
      publisher: JSON.stringify(publisher),
      subject: JSON.stringify(subject),
      spelling,
    });
  }
  const unsigned = await unsignedPackages(source, opened);
  if (unsigned.length > 0) throw appxErrors('appx-packages-unsigned', { names: listed(unsigned) });
  const moves = manifest.packages.some(
    ({ name }) => (archive.byName.get(name)?.offset ?? 0) > contentTypes.entry.offset,
  );
  if (moves && !contentTypes.namesSignature) throw appxErrors('appx-packages-move');
}

function signaturePart(opened: AppxPackage, source: ByteSource, { measure }: ContentReader): Container {
  const { kind, algorithm, signature, manifest } = opened;
  const sip = SIPS[kind];
  return {
    source,
    kind: { ...sipKind(sip, kind === 'bundle' ? 'a bundle of packages' : 'a package'), describeDigest: describeList },
    single: 'a package holds one signature',
    obstacle: undefined,
    entries: async () =>
      signature === undefined ? [] : [{ location: PARTS.signature, cms: signature.cms, examine: async () => [] }],
    async measure(content, algorithms) {
      const body = content === 'present' ? presentBody(opened) : newBody(opened);
      return { digests: await measurePackage(source, body, opened, algorithms, measure) };
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
    put: (cms) => editLastEntry(newBody(opened), plainlyDeflatedEntry(PARTS.signature, signatureContents(cms))),
    async take() {
      if (signature === undefined) throw formatErrors('not-signed');
      return editLastEntry(unsignedBody(opened));
    },
    examine: () => examinePackage(opened, source),
  };
}

/** As it is signed now. */
function presentBody({ archive, signature, contentTypes }: AppxPackage): SignedBody {
  return { ...archiveBody(archive, signature?.entry), contentTypes: contentTypes.bytes };
}

/** As a new signature covers it: the content types name the signature. */
function newBody(opened: AppxPackage): SignedBody {
  const { contentTypes } = opened;
  return contentTypes.namesSignature ? presentBody(opened) : bodyWith(opened, contentTypes.withSignature());
}

function unsignedBody(opened: AppxPackage): SignedBody {
  const { contentTypes } = opened;
  return contentTypes.namesSignature ? bodyWith(opened, contentTypes.withoutSignature()) : presentBody(opened);
}

function bodyWith({ archive, signature, contentTypes: { entry } }: AppxPackage, contentTypes: Uint8Array): SignedBody {
  const by = plainlyDeflatedEntry(PARTS.contentTypes, contentTypes);
  return { ...archiveBody(archive, signature?.entry, { entry, by }), contentTypes };
}
