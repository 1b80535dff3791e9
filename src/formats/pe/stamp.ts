/** Giving the signatures of a PE file timestamps: the same certificate table with another CMS in it. */

import type { FoundSignature } from '../../authenticode/read-authenticode.ts';
import { exchangeNested, stampSignature } from '../../authenticode/stamp-signature.ts';
import { cmsEnvelope, type EmbeddedSignature, type Embedding } from '../format.ts';
import { align8, type CertificateEntries } from './certificate-table.ts';
import { embedCms } from './embed.ts';
import { peErrors } from './errors.ts';
import type { PeLayout } from './layout.ts';
import type { MeasuredContent } from './measured-content.ts';
import type { PlacedSignature } from './signatures.ts';

export interface StampableFile {
  readonly layout: PeLayout;
  readonly entries: CertificateEntries;
  readonly placed: readonly PlacedSignature[];
  readonly signatures: readonly EmbeddedSignature[];
  readonly content: () => Promise<MeasuredContent>;
}

/** Throws `cannot-stamp` for a table that cannot be written again without a loss. */
export async function stampSignatures(
  { layout, entries, placed, signatures, content }: StampableFile,
  tokens: ReadonlyMap<EmbeddedSignature, Uint8Array>,
): Promise<Embedding> {
  const { certificates, damage } = entries;
  if (damage !== undefined) throw peErrors('cannot-stamp', { reason: `their table is damaged (${damage})` });
  if (certificates.length > 1) {
    throw peErrors('cannot-stamp', { reason: `there are ${certificates.length} entries in their table` });
  }
  if (align8(layout.programEnd) !== layout.programEnd) {
    const reason = 'their table is not aligned to 8 bytes, and moving it would break them';
    throw peErrors('cannot-stamp', { reason });
  }
  const [found] = placed.map((each) => each.found);
  const [signature] = signatures;
  if (found === undefined || signature === undefined) throw foreign();
  const waiting = new Set(tokens.keys());
  const cms = stamped(found, signature, (each) => take(tokens, waiting, each));
  if (waiting.size > 0) throw foreign();
  return {
    patch: embedCms(layout, (await content()).sum, cms),
    sealed: cmsEnvelope(cms),
    standing: [cmsEnvelope(cms)],
  };
}

/** The CMS with the tokens of its own signature and of those nested in it. */
function stamped(
  found: FoundSignature,
  signature: EmbeddedSignature,
  tokenOf: (signature: EmbeddedSignature) => Uint8Array | undefined,
): Uint8Array {
  const before = found.nested.map(({ cms }) => cms);
  const after = found.nested.map((inner, index) => {
    const embedded = signature.nested[index];
    return embedded === undefined ? inner.cms : stamped(inner, embedded, tokenOf);
  });
  const isSame = after.every((cms, index) => cms === before[index]);
  const cms = isSame ? found.cms : exchangeNested(found.cms, (nested, index) => after[index] ?? nested);
  const token = tokenOf(signature);
  return token === undefined ? cms : stampSignature(cms, token);
}

/** By place and bytes: the file may have been asked for its signatures again since. */
function take(
  tokens: ReadonlyMap<EmbeddedSignature, Uint8Array>,
  waiting: Set<EmbeddedSignature>,
  { location, envelope }: EmbeddedSignature,
): Uint8Array | undefined {
  const key = [...waiting].find(
    (each) => each.location === location && Buffer.compare(each.envelope.bytes, envelope.bytes) === 0,
  );
  if (key === undefined) return undefined;
  waiting.delete(key);
  return tokens.get(key);
}

const foreign = () => new TypeError('the signature is not one of this file');
