/** What the commands do with the capabilities of a file, in memory. */

import type { Patch } from '../../../../src/bytes/pieces.ts';
import { lazy } from '../../../../src/bytes/reuse.ts';
import { type Format, requireCapability, type SigningRules } from '../../../../src/format/format.ts';
import type {
  Embedding,
  Envelopes,
  Prepared,
  SignableFile,
  Signing,
  SigningContext,
  SigningMode,
} from '../../../../src/format/signable-file.ts';
import type { Envelope } from '../../../../src/format/signature.ts';
import { requireUnbroken } from '../../../../src/signing/existing-signatures.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';

const ANY = { title: 'any format' };

export async function removalOf({ removing }: SignableFile): Promise<Patch> {
  return await requireCapability(removing, 'removed', ANY).patch();
}

export async function placeIn({ attaching }: SignableFile, envelope: Envelope): Promise<Embedding> {
  return await requireCapability(attaching, 'attached', ANY).place(envelope);
}

export async function stampIn(
  { stamping }: SignableFile,
  tokens: ReadonlyMap<{ readonly location: string }, Uint8Array>,
): Promise<Embedding> {
  if (stamping?.of !== 'each-signature') throw new TypeError('a file with timestamps of each signature was expected');
  return await stamping.stamp(new Map(Array.from(tokens, ([{ location }, token]) => [location, token])));
}

export function wholeStamping({ stamping }: SignableFile) {
  if (stamping?.of !== 'file') throw new TypeError('a file with timestamps of the whole was expected');
  return stamping;
}

export function signingIn({ signing }: SignableFile): Signing {
  return requireCapability(signing, 'signed', ANY);
}

export function rulesOf(format: Format): SigningRules {
  return requireCapability(format.signing, 'signed', format);
}

/** Runs the checks of `sign` before it requests a signature. */
export async function checkIn(file: SignableFile, format: Format, context: SigningContext, mode: SigningMode) {
  const preview = await signingIn(file).check(context, mode);
  const staying = (await file.signatures()).filter((signature) => !preview.replaces(signature));
  await requireUnbroken(file, staying, format);
  return preview;
}

/** Each unit signed with the key, instead of by the service. */
export function sealedBy(
  { signDigest }: Pick<ThrowawaySigner, 'signDigest'>,
  { units }: Prepared,
  token?: Uint8Array,
): Envelopes {
  const [first, ...others] = units.map((unit) => unit.seal(signDigest(unit.digest, unit.algorithm), token));
  if (first === undefined) throw new TypeError('a file has at least one unit');
  return [first, ...others];
}

const warned = lazy(() => makeThrowawaySigner());

/** What `sign` would warn of. */
export async function warningsOf(file: SignableFile): Promise<readonly string[]> {
  const context = signingContext({ chain: (await warned()).chain }, { wsh: true });
  return (await signingIn(file).check(context, 'replace')).warnings;
}
