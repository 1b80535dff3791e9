import { createHash } from 'node:crypto';
import { DATA } from '../../asn1/object-identifiers.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { lazy } from '../../bytes/reuse.ts';
import { NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { prepareCms } from '../../format/cms.ts';
import { formatErrors } from '../../format/errors.ts';
import { textOf } from '../../format/options.ts';
import {
  type ContentReader,
  PLAIN_PREVIEW,
  type Prepared,
  type SignableFile,
  type SigningContext,
  type SigningMode,
  type SigningPreview,
} from '../../format/signable-file.ts';
import { cmsEnvelope } from '../../format/signature.ts';
import { isDirectory } from '../../zip/directory.ts';
import { rejectFutureRival } from '../../zip/end-record.ts';
import { zipContents } from '../zip-contents.ts';
import { attachBlock } from './attach.ts';
import { checkResult } from './check.ts';
import { digestListed, listEntries } from './content.ts';
import { readContentInfo } from './content-info.ts';
import { describeLayout, describeOddities } from './describe-layout.ts';
import { filesOf, prepareEmbedding, removeSignatures } from './embed.ts';
import { jarErrors } from './errors.ts';
import { checkCovered, checkOwnFiles, examineArchive } from './examine-archive.ts';
import {
  isFileName,
  LARGEST_MANIFEST,
  MANIFEST_NAME,
  META_INF,
  type OpenedJar,
  ownNameOf,
  readLayout,
} from './layout.ts';
import { createManifestCache, findDisagreement } from './manifest/agreement.ts';
import { completeManifest, leastLength } from './manifest/complete.ts';
import { type Manifest, readManifest, terminated } from './manifest/manifest.ts';
import { SIGNER_NAME } from './options.ts';
import { type EmbeddedBlock, readBlocks } from './signature/blocks.ts';
import type { SharedInfo } from './signature/examine.ts';
import { buildSignatureFile, chooseBlockName, JAR_PROFILE } from './signature/new-signature.ts';
import { sectionAlgorithms, signatureFileInfo } from './signature/signature-file-info.ts';
import { readSignatures } from './signature/signatures.ts';
import { stampSignatures } from './stamp.ts';

export async function openJar(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile> {
  const layout = await readLayout(source);
  const opened = { source, layout, reader, name };
  const { digestEntries, budget } = reader;
  const knownManifest = lazy(() => layout.manifest && createManifestCache(layout.manifest.parsed));
  const shared: SharedInfo = {
    layout,
    budget,
    knownManifest,
    infoOf: signatureFileInfo(layout, knownManifest),
    manifestAlgorithms: lazy(() => (layout.manifest === undefined ? [] : sectionAlgorithms(layout.manifest.parsed))),
    contents: lazy(() => readContentInfo(source, layout, digestEntries)),
  };
  const signatures = () => readSignatures(source, shared);
  return {
    signatures,
    examine: () => examineArchive(opened),
    layout: () => describeLayout(layout),
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(context, mode) {
        const { leaving } = await chooseSignatureFile(opened, context, mode);
        const blocks = [...leaving].flatMap((base) => layout.signatureFiles.get(base)?.blocks ?? []);
        const replaces: SigningPreview['replaces'] = ({ location }) => blocks.some((block) => block.name === location);
        return { ...PLAIN_PREVIEW, warnings: [...describeOddities(layout)], replaces };
      },
      prepare: (context, mode) => prepareJar(opened, context, mode),
      verify: (expected) => checkResult(source, layout, digestEntries, expected),
    },
    removing: { signatures, patch: async () => removeSignatures(layout) },
    stamping: {
      of: 'each-signature',
      async stamp(tokens) {
        await checkCovered(source, layout.archive, name);
        return await stampSignatures(source, layout, tokens);
      },
    },
    attaching: {
      async place({ bytes }) {
        await checkCovered(source, layout.archive, name);
        return await attachBlock(source, layout, bytes);
      },
    },
    contents: zipContents(source, layout.archive),
    listing: undefined,
    catalog: undefined,
  };
}

async function chooseSignatureFile({ source, layout, name }: OpenedJar, context: SigningContext, mode: SigningMode) {
  const { algorithm, timestampAlgorithm, chain, formatOptions } = context;
  if (algorithm === 'SHA1') throw jarErrors('jar-unsigned-result', { algorithm });
  if (timestampAlgorithm === 'SHA1') throw jarErrors('jar-unsigned-timestamp', { algorithm: timestampAlgorithm });
  await checkCovered(source, layout.archive, name);
  await rejectFutureRival(source, layout.archive.end);
  const blocks = mode === 'replace' ? [] : await readBlocks(source, layout);
  const base = chooseBlockName(textOf(formatOptions, SIGNER_NAME), chain.leaf, blocks);
  const others = blocks.filter((block) => block.base !== base);
  return { base, others, leaving: new Set(mode === 'replace' ? layout.signatureFiles.keys() : [base]) };
}

/**
 * Computes digests in the order in which each depends on the previous one: contents, manifest, signature file, signed
 * attributes.
 */
async function prepareJar(opened: OpenedJar, context: SigningContext, mode: SigningMode): Promise<Prepared> {
  const { source, layout } = opened;
  const { digestEntries } = opened.reader;
  const { algorithm } = context;
  const place = await chooseSignatureFile(opened, context, mode);

  const old = layout.manifest && terminated(layout.manifest.parsed);
  const listed = listEntries(layout, old);
  const keepOthers = place.others.length > 0;
  checkReadable(MANIFEST_NAME, { length: leastLength({ manifest: old, listed, algorithm, keepOthers }) });
  const digestOf = await digestListed(source, listed, NODE_DIGEST_NAME[algorithm], digestEntries);
  const completed = completeManifest({ manifest: old, listed, digestOf, algorithm, keepOthers });
  checkReadable(MANIFEST_NAME, completed);
  const manifest = readManifest(completed);
  checkManifestAgrees(place.others, manifest);

  await checkOwnFiles(source, layout, digestEntries);

  let coveredCount = 0;
  const isSigned = (name: string): boolean => {
    const entry = layout.archive.byName.get(name);
    if (entry === undefined) return !isFileName(name);
    if (ownNameOf(name) !== undefined) return false;
    if (!isDirectory(entry)) coveredCount++;
    return true;
  };
  // A new manifest has one section for each name.
  const mayRepeat = old?.sections()[Symbol.iterator]().next().done === false;
  const signatureFile = buildSignatureFile(manifest, algorithm, isSigned, mayRepeat);
  if (coveredCount !== layout.signable.length) throw new TypeError('the manifest does not cover every file');
  checkReadable(`${META_INF}${place.base}.SF`, signatureFile);

  const messageDigest = createHash(NODE_DIGEST_NAME[algorithm]).update(signatureFile).digest();
  const block = prepareCms(JAR_PROFILE, context, { type: DATA, messageDigest });
  const remove = [...layout.signatureFiles]
    .filter(([base]) => place.leaving.has(base))
    .flatMap(([, files]) => filesOf(files));
  const patchFor = prepareEmbedding(layout, manifest.bytes, signatureFile, place.base, remove);
  const kept = place.others.map(({ cms }) => cmsEnvelope(cms));
  return {
    units: [block],
    embed: ([sealed]) => ({ patch: patchFor(sealed.bytes), added: [sealed], envelopes: [...kept, sealed] }),
  };
}

function checkReadable(file: string, { length }: { readonly length: number }): void {
  if (length > LARGEST_MANIFEST) throw jarErrors('manifest-too-large', { file, size: length, limit: LARGEST_MANIFEST });
}

function checkManifestAgrees(blocks: readonly EmbeddedBlock[], manifest: Manifest): void {
  const known = createManifestCache(manifest);
  for (const block of blocks) {
    const signatureFile = block.readSignatureFile();
    if (signatureFile === undefined || findDisagreement(signatureFile, manifest, { known }) !== undefined) {
      const reason = `the new signature needs other digests in the manifest, which would break the signature of "${block.signer.name}"`;
      throw formatErrors('cannot-append', { reason });
    }
  }
}
