/** Serves formats with one CMS signature (RFC 5652) that is not an Authenticode signature. */

import { createHash } from 'node:crypto';
import { DIGEST_OID, digestAlgorithmOf } from '../asn1/algorithm-identifiers.ts';
import { DATA } from '../asn1/object-identifiers.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import type { Patch } from '../bytes/pieces.ts';
import { parseSignedData, type SignedData } from '../cms/parse-signed-data.ts';
import { examineSigner } from '../cms/verify-signer.ts';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { attempt, CodesignError } from '../errors/codesign-error.ts';
import { asClause, broken, type Finding, hasFindingAgainst, isAgainst } from '../errors/finding.ts';
import {
  cmsSignature,
  examineRepeated,
  examineSignerCount,
  examineUnread,
  prepareCms,
  SHA1_AGING,
  type SignatureProfile,
  stampCms,
  timestampsOf,
  unreadableCms,
} from '../format/cms.ts';
import { formatErrors } from '../format/errors.ts';
import { type Embedding, PLAIN_PREVIEW, type SignableFile, type SigningMode } from '../format/signable-file.ts';
import { cmsEnvelope, type Detail, type FoundSignature } from '../format/signature.ts';
import { timestampReader } from '../timestamp/read-timestamps.ts';

export interface CmsHolder {
  readonly profile: SignatureProfile;
  readonly location: string;
  readonly reasonForOneSignature: string;
  readonly stored: Uint8Array | undefined;
  newContent(): Uint8Array;
  presentContent(): Uint8Array;
  examine(): readonly Finding[];
  details(): readonly Detail[];
  /** Makes `cms` the only signature. Doing so a second time must change nothing. */
  write(cms: Uint8Array): Patch;
  replace(cms: Uint8Array): Patch;
  removeAll(): Patch;
}

type CmsFile = Omit<SignableFile, 'layout'>;

export function cmsFile(holder: CmsHolder, budget: WorkBudget): CmsFile {
  const { profile, stored } = holder;
  const prepared = (mode: SigningMode): Uint8Array => {
    if (mode === 'append') throw formatErrors('cannot-append', { reason: holder.reasonForOneSignature });
    return holder.newContent();
  };
  const embedding = (cms: Uint8Array, patch: Patch): Embedding => {
    const envelope = cmsEnvelope(cms);
    return { patch, added: [envelope], envelopes: [envelope] };
  };
  const signatures = async () => (stored === undefined ? [] : [signatureIn(holder, stored, budget)]);
  return {
    signatures,
    examine: async () => [],
    signing: {
      async check(_context, mode) {
        prepared(mode);
        return PLAIN_PREVIEW;
      },
      async prepare(context, mode) {
        const digest = createHash(NODE_DIGEST_NAME[context.algorithm]).update(prepared(mode)).digest();
        return {
          units: [prepareCms(profile, context, { type: DATA, messageDigest: digest })],
          embed: ([{ bytes }]) => embedding(bytes, holder.write(bytes)),
        };
      },
      async verify({ added: [added] }) {
        const read = attempt(() => parseSignedData(stored ?? new Uint8Array()));
        const isThere = !(read instanceof CodesignError) && stored !== undefined && isSameBytes(stored, added.bytes);
        if (!isThere) throw formatErrors('result-damaged', { reason: 'its signature differs from the new one' });
        const [problem] = [...holder.examine(), ...examineCms(read, holder.presentContent(), budget)];
        if (problem !== undefined && isAgainst(problem, 'integrity'))
          throw formatErrors('result-damaged', { reason: asClause(problem) });
      },
    },
    removing: {
      signatures,
      async patch() {
        if (stored === undefined) throw formatErrors('not-signed');
        return holder.removeAll();
      },
    },
    stamping: {
      of: 'each-signature',
      async stamp(tokens) {
        if (stored === undefined) throw new TypeError('the signature is not one of this file');
        const token = tokens.get(holder.location);
        const cms = token === undefined ? stored : stampCms(profile, stored, token);
        return embedding(cms, holder.replace(cms));
      },
    },
    attaching: {
      async place({ bytes }) {
        const signedData = parseSignedData(bytes);
        // The CMS can cover the content of the existing signature, or that of a new one.
        const isOfPresent =
          stored !== undefined &&
          holder.examine().length === 0 &&
          !hasFindingAgainst(examineCms(signedData, holder.presentContent(), budget), 'integrity');
        const cms = signedData.bytes;
        return embedding(cms, isOfPresent ? holder.replace(cms) : holder.write(cms));
      },
    },
  };
}

function signatureIn(holder: CmsHolder, stored: Uint8Array, budget: WorkBudget): FoundSignature {
  const signedData = attempt(() => parseSignedData(stored));
  const readTimestamps = timestampReader(budget);
  const ofHolder = { location: holder.location, details: async () => holder.details() };
  if (signedData instanceof CodesignError) return unreadableCms(signedData, { ...ofHolder, cms: stored });
  const [signer] = signedData.signers;
  return cmsSignature({
    ...ofHolder,
    cms: signedData.bytes,
    signedData,
    signer,
    algorithm: () => digestAlgorithmOf(signer.digestAlgorithm),
    timestamps: () => timestampsOf(holder.profile, signedData, signer, readTimestamps),
    examine: async () => [
      ...holder.examine(),
      ...examineCms(signedData, holder.presentContent(), budget),
      ...examineUnread(holder.profile, signer.unsignedAttributes),
      ...(signedData.trailingLength === 0
        ? []
        : [broken('hidden-bytes', 'Bytes that no signature covers follow the signature.')]),
    ],
  });
}

function examineCms(signedData: SignedData, content: Uint8Array, budget: WorkBudget): readonly Finding[] {
  const [signer] = signedData.signers;
  const findings: Finding[] = [...examineSigner(signedData, signer, content, { budget })];
  if (signedData.contentType !== DATA || signedData.content !== undefined) {
    findings.push(
      broken('signature-content-other', 'The signature contains content of its own instead of a digest of the file.'),
    );
  }
  const aging = signer.digestAlgorithm === DIGEST_OID.SHA1 ? [SHA1_AGING] : [];
  return [...findings, ...examineSignerCount(signedData), ...examineRepeated(signer), ...aging];
}
