/** Putting a finished CMS into a PE file, once it is sure that it is a signature of this very file. */

import type { SignedFile } from '../../authenticode/examine-authenticode.ts';
import { examineAuthenticode } from '../../authenticode/examine-authenticode.ts';
import { type FoundSignature, findAuthenticode } from '../../authenticode/read-authenticode.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { MeasureContent } from '../../crypto/content.ts';
import type { Finding } from '../../errors/finding.ts';
import { formatErrors } from '../errors.ts';
import { cmsEnvelope, type Embedding } from '../format.ts';
import { contentToSign } from './content.ts';
import { embedCms } from './embed.ts';
import type { PeLayout } from './layout.ts';
import { measureFor } from './measured-content.ts';
import { signedPe } from './signatures.ts';

/**
 * In the place of whatever the table holds. What follows the CMS in `bytes` is dropped. Throws `not-its-signature`, for a
 * nested signature that is none of this file's too.
 */
export async function attachCms(
  source: ByteSource,
  layout: PeLayout,
  measure: MeasureContent,
  bytes: Uint8Array,
): Promise<Embedding> {
  const found = findAuthenticode(bytes);
  const content = await measureFor([found], source, contentToSign(layout), measure);
  const [problem] = problemsOf(found, signedPe(content, layout.program));
  if (problem !== undefined) {
    throw formatErrors('not-its-signature', { reason: asPhrase(problem.message) });
  }
  const { cms } = found;
  return { patch: embedCms(layout, content.sum, cms), sealed: cmsEnvelope(cms), standing: [cmsEnvelope(cms)] };
}

/** A weak signature is still this file's; whether to trust it is for whoever verifies it. */
function problemsOf(found: FoundSignature, file: SignedFile): readonly Finding[] {
  const own = examineAuthenticode(found, file).filter(
    ({ code, against }) => against === 'integrity' && code !== 'digest-algorithm-weak',
  );
  return [...own, ...found.nested.flatMap((inner) => problemsOf(inner, file))];
}

/** A whole sentence as part of one. */
function asPhrase(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}
