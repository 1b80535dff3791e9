/** The signatures that are in a PE file already, and whether file and signature still agree. */

import { type AuthenticodeSignature, readAuthenticode } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { DigestAlgorithm } from '../../crypto/algorithms.ts';
import type { MeasureContent } from '../../crypto/content.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { EmbeddedSignature } from '../format.ts';
import type { WinCertificate } from './certificate-table.ts';
import { contentAsIs } from './content.ts';
import { holdsCms, readCms } from './embedded-cms.ts';
import type { PeLayout } from './layout.ts';

type DigestContent = (algorithm: DigestAlgorithm) => Promise<Uint8Array | undefined>;

/** One for each WIN_CERTIFICATE that says it holds a CMS, in the table's order. One that cannot be read is listed as such. */
export async function readSignatures(
  source: ByteSource,
  layout: PeLayout,
  certificates: readonly WinCertificate[],
  measure: MeasureContent,
): Promise<readonly EmbeddedSignature[]> {
  const found: { cms: Uint8Array | undefined; authenticode: AuthenticodeSignature | undefined }[] = [];
  for (const certificate of certificates.filter(holdsCms)) {
    const cms = await readCms(source, certificate);
    found.push({ cms, authenticode: cms && tryReadAuthenticode(cms) });
  }
  const algorithms = new Set(found.flatMap(({ authenticode }) => (authenticode ? algorithmsOf(authenticode) : [])));
  const digest = digestsOnce(source, layout, measure, algorithms);
  return found.map(({ cms, authenticode }) =>
    authenticode ? embeddedSignature(authenticode, digest) : unreadable(cms ?? new Uint8Array()),
  );
}

function tryReadAuthenticode(cms: Uint8Array): AuthenticodeSignature | undefined {
  try {
    return readAuthenticode(cms);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return undefined;
    throw thrown;
  }
}

function embeddedSignature(authenticode: AuthenticodeSignature, digest: DigestContent): EmbeddedSignature {
  const { cms, algorithm, contentDigest, signerCertificate, signerName, nested, verifies } = authenticode;
  return {
    cms,
    signerCertificate,
    signerName,
    nested: nested.map((inner) => embeddedSignature(inner, digest)),
    async isIntact() {
      const actual = algorithm && (await digest(algorithm));
      return actual !== undefined && Buffer.from(actual).equals(contentDigest) && verifies();
    },
  };
}

function unreadable(cms: Uint8Array): EmbeddedSignature {
  return {
    cms,
    signerCertificate: undefined,
    signerName: '(unreadable signature)',
    nested: [],
    isIntact: async () => false,
  };
}

function algorithmsOf({ algorithm, nested }: AuthenticodeSignature): readonly DigestAlgorithm[] {
  return [...(algorithm ? [algorithm] : []), ...nested.flatMap(algorithmsOf)];
}

/** Reads the content once, on the first question, for all the algorithms that will be asked about. */
function digestsOnce(
  source: ByteSource,
  layout: PeLayout,
  measure: MeasureContent,
  algorithms: ReadonlySet<DigestAlgorithm>,
): DigestContent {
  let measurement: ReturnType<MeasureContent> | undefined;
  return async (algorithm) => {
    measurement ??= measure(source, contentAsIs(layout), [...algorithms]);
    return (await measurement).digests.get(algorithm);
  };
}
