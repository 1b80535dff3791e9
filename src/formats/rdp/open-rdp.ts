import { createHash } from 'node:crypto';
import { DIGEST_OID, digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { DATA, TIMESTAMP_TOKEN } from '../../asn1/object-identifiers.ts';
import { type ByteSource, isSameBytes } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { parseSignedData, type SignedData } from '../../cms/parse-signed-data.ts';
import { examineSigner } from '../../cms/verify-signer.ts';
import { NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { WorkBudget } from '../../crypto/work-budget.ts';
import { attempt, CodesignError } from '../../errors/codesign-error.ts';
import { asClause, broken, type Finding, hasFindingAgainst, isAgainst } from '../../errors/finding.ts';
import { listedUpTo, plural } from '../../errors/plural.ts';
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
} from '../../format/cms.ts';
import { damagedResult, formatErrors } from '../../format/errors.ts';
import {
  type ContentReader,
  type Embedding,
  PLAIN_PREVIEW,
  type SignableFile,
  type SigningMode,
} from '../../format/signable-file.ts';
import { cmsEnvelope, type Detail, type FoundSignature } from '../../format/signature.ts';
import { timestampReader } from '../../timestamp/read-timestamps.ts';
import {
  namesInScope,
  newContent,
  presentContent,
  type RdpLayout,
  readLayout,
  replaceSignature,
  replaceValue,
  SCOPE,
  writeSignature,
} from './layout.ts';
import { COVERED_SETTINGS } from './settings.ts';

export const RDP_PROFILE: SignatureProfile = {
  signedAttributes: () => [],
  carriesRoot: false,
  // Other CMS readers find timestamps in this attribute. rdpsign and Remote Desktop Connection use no timestamps.
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'A reader of CMS',
};

const LOCATION = 'lines signscope and signature';

export async function openRdp(source: ByteSource, { budget }: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const { cms: stored } = layout;
  const signatures = async () => (stored === undefined ? [] : [signatureIn(layout, stored, budget)]);
  return {
    signatures,
    examine: async () => [],
    layout: () => describe(layout),
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(_context, mode) {
        contentFor(layout, mode);
        return PLAIN_PREVIEW;
      },
      async prepare(context, mode) {
        const digest = createHash(NODE_DIGEST_NAME[context.algorithm]).update(contentFor(layout, mode)).digest();
        return {
          units: [prepareCms(RDP_PROFILE, context, { type: DATA, messageDigest: digest })],
          embed: ([{ bytes }]) => embedding(bytes, writeSignature(layout, bytes)),
        };
      },
      async verify({ added: [added] }) {
        const read = attempt(() => parseSignedData(stored ?? new Uint8Array()));
        if (stored === undefined || !isSameBytes(stored, added.bytes) || read instanceof CodesignError)
          throw damagedResult('its signature differs from the new one');
        const [problem] = [...examineScope(layout), ...examineCms(read, presentContent(layout), budget)];
        if (problem !== undefined && isAgainst(problem, 'integrity')) throw damagedResult(asClause(problem));
      },
    },
    removing: {
      signatures,
      async patch() {
        if (stored === undefined) throw formatErrors('not-signed');
        return replaceSignature(layout, '');
      },
    },
    stamping: {
      of: 'each-signature',
      async stamp(tokens) {
        if (stored === undefined) throw formatErrors('not-signed');
        const token = tokens.get(LOCATION);
        const cms = token === undefined ? stored : stampCms(RDP_PROFILE, stored, token);
        return embedding(cms, replaceValue(layout, cms));
      },
    },
    attaching: {
      async place({ bytes }) {
        const signedData = parseSignedData(bytes);
        // The signature may cover the lines that the existing scope lists, or those that a new scope would list.
        const isOfPresent =
          stored !== undefined &&
          examineScope(layout).length === 0 &&
          !hasFindingAgainst(examineCms(signedData, presentContent(layout), budget), 'integrity');
        const cms = signedData.bytes;
        return embedding(cms, isOfPresent ? replaceValue(layout, cms) : writeSignature(layout, cms));
      },
    },
    contents: undefined,
    listing: undefined,
    catalog: undefined,
  };
}

function contentFor(layout: RdpLayout, mode: SigningMode): Uint8Array {
  if (mode === 'append') {
    throw formatErrors('cannot-append', { reason: 'a connection file can have only one signature' });
  }
  return newContent(layout);
}

function embedding(cms: Uint8Array, patch: Patch): Embedding {
  const envelope = cmsEnvelope(cms);
  return { patch, added: [envelope], envelopes: [envelope] };
}

function signatureIn(layout: RdpLayout, stored: Uint8Array, budget: WorkBudget): FoundSignature {
  const signedData = attempt(() => parseSignedData(stored));
  const readTimestamps = timestampReader(budget);
  const details = async () => [{ name: 'covered settings', value: layout.settings.get(SCOPE)?.value || 'none' }];
  const own = { location: LOCATION, details };
  if (signedData instanceof CodesignError) return unreadableCms(signedData, { ...own, cms: stored });
  const [signer] = signedData.signers;
  return cmsSignature({
    ...own,
    cms: signedData.bytes,
    signedData,
    signer,
    algorithm: () => digestAlgorithmOf(signer.digestAlgorithm),
    timestamps: () => timestampsOf(RDP_PROFILE, signedData, signer, readTimestamps),
    examine: async () => [
      ...examineScope(layout),
      ...examineCms(signedData, presentContent(layout), budget),
      ...examineUnread(RDP_PROFILE, signer.unsignedAttributes),
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

const MOST_LISTED = 8;

function examineScope(layout: RdpLayout): readonly Finding[] {
  const names = namesInScope(layout);
  const findings: Finding[] = [];
  const isWrong = (name: string, index: number) =>
    !COVERED_SETTINGS.has(name) || !layout.settings.has(name) || names.indexOf(name) !== index;
  const wrong = names.filter(isWrong);
  if (wrong.length > 0) {
    const message = `The signature lists settings that are missing, that it cannot cover, or that it lists twice: ${listedUpTo(MOST_LISTED, wrong)}.`;
    findings.push(broken('rdp-scope-wrong', message));
  }
  const uncovered = [...COVERED_SETTINGS].filter(([key]) => layout.settings.has(key) && !names.includes(key));
  if (uncovered.length > 0) {
    const message = `The signature does not cover these settings: ${listedUpTo(MOST_LISTED, names)}.`;
    findings.push(broken('rdp-settings-uncovered', message));
  }
  return findings;
}

function describe({ encoding, hasBom, lineCount, settings, cms }: RdpLayout): readonly Detail[] {
  const covered = [...COVERED_SETTINGS.keys()].filter((key) => settings.has(key));
  return [
    { name: 'encoding', value: `${encoding}${hasBom ? ' with BOM' : ''}` },
    { name: 'settings', value: `${plural(lineCount, 'line')}, ${covered.length} of them can be signed` },
    { name: 'signature', value: cms === undefined ? 'none' : `${cms.length} bytes` },
  ];
}
