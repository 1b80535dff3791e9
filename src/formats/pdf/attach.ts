import { digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { isSameBytes } from '../../bytes/byte-source.ts';
import { parseSignedData } from '../../cms/parse-signed-data.ts';
import { examineSigner } from '../../cms/verify-signer.ts';
import { formatErrors } from '../../format/errors.ts';
import type { Embedding } from '../../format/signable-file.ts';
import { cmsEnvelope } from '../../format/signature.ts';
import { examineStorage } from './examine/signature.ts';
import { hexContents } from './new-signature.ts';
import type { OpenedPdf } from './opened.ts';

/**
 * Writes a CMS into /Contents of a signature field: the one whose /ByteRange covers the content with the signed digest.
 */
export async function attachCms(opened: OpenedPdf, bytes: Uint8Array): Promise<Embedding> {
  const signedData = parseSignedData(bytes);
  const [signer] = signedData.signers;
  const algorithm = digestAlgorithmOf(signer.digestAlgorithm);
  let reason = 'no signature field of the document is prepared for a signature';
  for (const stored of opened.stored.toReversed()) {
    const { contents } = stored;
    const digest = algorithm && (await opened.digest(stored, algorithm));
    if (contents === undefined || digest === undefined || examineStorage(stored).length > 0) continue;
    const [problem] = examineSigner(signedData, signer, { digest });
    if (problem !== undefined) {
      reason = problem.message.charAt(0).toLowerCase() + problem.message.slice(1).replace(/\.$/, '');
      continue;
    }
    const sealed = cmsEnvelope(signedData.bytes);
    const isThere = stored.cms !== undefined && isSameBytes(stored.cms, sealed.bytes);
    const insert = [hexContents(sealed.bytes, contents.bytes.length)];
    return {
      patch: isThere ? [] : [{ offset: contents.start, remove: contents.end - contents.start, insert }],
      added: [sealed],
      envelopes: opened.stored.map((each) => (each === stored ? sealed : cmsEnvelope(each.cms ?? new Uint8Array()))),
    };
  }
  throw formatErrors('not-its-signature', { reason });
}
