/** A program that is open: what may be asked of it, and how it is signed with Authenticode. */

import { nestSignature } from '../../authenticode/nest-signature.ts';
import { SPC_PE_IMAGE_DATA } from '../../authenticode/object-identifiers.ts';
import { prepareAuthenticode } from '../../authenticode/prepare-authenticode.ts';
import { programInfo } from '../../authenticode/program-info.ts';
import { spcPeImageData } from '../../authenticode/spc-structures.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import {
  type ContentReader,
  cmsEnvelope,
  type PreparedSignature,
  type SignableFile,
  type SigningContext,
  type SigningMode,
} from '../format.ts';
import { readOuterSignature, requireUnchanged } from './append.ts';
import { attachCms } from './attach.ts';
import { type CertificateEntries, readCertificates } from './certificate-table.ts';
import { checkResult } from './check.ts';
import { contentAsIs, contentToSign } from './content.ts';
import { describeLayout } from './describe-layout.ts';
import { embedCms } from './embed.ts';
import { describeOddities } from './embedded-cms.ts';
import { examinePe } from './examine.ts';
import { type PeLayout, readLayout } from './layout.ts';
import { type MeasuredContent, measureFor, required } from './measured-content.ts';
import { removeTable } from './remove.ts';
import { embeddedSignatures, findSignatures } from './signatures.ts';
import { stampSignatures } from './stamp.ts';

const NO_ENTRIES: CertificateEntries = { certificates: [], damage: undefined };

/** As Format.open says. */
export async function openPe(source: ByteSource, { measure, budget }: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const entries = layout.table === undefined ? NO_ENTRIES : await readCertificates(source, layout.table);
  const warnings = [...layout.warnings, ...(await describeOddities(source, entries))];
  return signablePe({ source, layout, entries, measure, budget }, warnings);
}

function signablePe(opened: OpenedPe, warnings: readonly string[]): SignableFile {
  const { source, layout, entries, measure, budget } = opened;
  // Read again each time: they are soon read, and files are many.
  const placed = () => findSignatures(source, entries.certificates);
  let measured: Promise<MeasuredContent> | undefined;
  const content = () => {
    measured ??= placed().then((found) => {
      return measureFor(
        found.map((each) => each.found),
        source,
        contentAsIs(layout),
        measure,
      );
    });
    return measured;
  };
  return {
    warnings,
    reopen: (other, { measure, budget }) => signablePe({ ...opened, source: other, measure, budget }, warnings),
    signatures: async () => embeddedSignatures(source, await placed(), layout.program, content, budget),
    async check(_context, mode) {
      if (mode === 'append') await readOuterSignature(source, layout, entries);
    },
    prepare: (context, mode) => preparePe(opened, context, mode),
    verifyResult: (expected) => checkResult(source, layout, measure, expected),
    examine: () => examinePe(source, layout, entries, content),
    layout: () => describeLayout(layout, entries),
    remove: () => removeTable(layout, content),
    async stamp(tokens) {
      const found = await placed();
      const signatures = embeddedSignatures(source, found, layout.program, content, budget);
      return stampSignatures({ layout, entries, placed: found, signatures, content }, tokens);
    },
    attach: ({ bytes }) => attachCms(source, layout, measure, bytes),
  };
}

interface OpenedPe extends Pick<ContentReader, 'measure' | 'budget'> {
  readonly source: ByteSource;
  readonly layout: PeLayout;
  readonly entries: CertificateEntries;
}

/** One pass over the content gives the digest to sign, that of the signature to append to, and the sum for CheckSum. */
async function preparePe(
  { source, layout, entries, measure }: OpenedPe,
  context: SigningContext,
  mode: SigningMode,
): Promise<PreparedSignature> {
  const outer = mode === 'append' ? await readOuterSignature(source, layout, entries) : undefined;
  const algorithms = new Set([context.algorithm, ...(outer ? [outer.algorithm] : [])]);
  const measurement = await measure(source, contentToSign(layout), [...algorithms, 'SUM16']);
  if (outer !== undefined) requireUnchanged(outer, measurement);

  const contentDigest = required(measurement.digests.get(context.algorithm));
  const contentSum = required(measurement.sum16);
  const { toBeSigned, seal } = prepareAuthenticode({
    ...context,
    ...programInfo(context.formatOptions),
    content: { type: SPC_PE_IMAGE_DATA, value: spcPeImageData() },
    contentDigest,
  });
  return {
    toBeSigned,
    seal: (signature, timestampToken) => cmsEnvelope(seal(signature, timestampToken)),
    embed(sealed) {
      const cms = outer ? nestSignature(outer.cms, sealed.bytes) : sealed.bytes;
      return { patch: embedCms(layout, contentSum, cms), sealed, standing: [cmsEnvelope(cms)] };
    },
  };
}
