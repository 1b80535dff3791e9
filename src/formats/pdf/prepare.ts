import { DATA } from '../../asn1/object-identifiers.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../../crypto/algorithms.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { isObjection } from '../../errors/finding.ts';
import { prepareCms } from '../../format/cms.ts';
import { formatErrors } from '../../format/errors.ts';
import { type FormatOptions, textOf } from '../../format/options.ts';
import type { Embedding, Prepared, PreparedTimestamp, SigningContext } from '../../format/signable-file.ts';
import { cmsEnvelope, type Envelope } from '../../format/signature.ts';
import { dateString, textString } from '../../pdf-syntax/write.ts';
import { checkChangeable, checkReferences, emptyField, freeName } from './check.ts';
import { pdfSigningErrors } from './errors.ts';
import { examineCoverage } from './examine/signature.ts';
import { type NewSignature, prepareUpdate } from './new-signature.ts';
import { type OpenedPdf, openWith } from './opened.ts';
import { CERTIFY, CERTIFY_LEVELS, CONTACT, FIELD, LOCATION, REASON } from './options.ts';
import { isDocumentTimestamp, PDF_PROFILE } from './stored.ts';

export async function planSignature(
  { document, stored, fields }: OpenedPdf,
  { formatOptions, time }: SigningContext,
): Promise<Omit<NewSignature, 'space'>> {
  const named = textOf(formatOptions, FIELD);
  const level = CERTIFY_LEVELS.get(textOf(formatOptions, CERTIFY) ?? '');
  const field = named === undefined ? freeName(fields, 'Signature') : await emptyField(document, fields, named);
  await checkChangeable(document, stored, typeof field === 'string' ? field : field.name);
  if (level !== undefined && stored.length > 0) throw pdfSigningErrors('pdf-certify-not-first');
  const firstNumber = await checkReferences(document);
  const entries = [
    ['Type', '/Sig'],
    ['SubFilter', '/ETSI.CAdES.detached'],
    ['M', dateString(time)],
    ...textsOf(formatOptions),
    ...(level === undefined ? [] : [['Reference', certification(level)] as const]),
  ] as const;
  return { entries, field, firstNumber, certifies: level !== undefined };
}

function textsOf(options: FormatOptions): (readonly [string, string])[] {
  const texts = [
    ['Reason', textOf(options, REASON)],
    ['Location', textOf(options, LOCATION)],
    ['ContactInfo', textOf(options, CONTACT)],
  ] as const;
  return texts.flatMap(([key, text]) => (text ? [[key, textString(text)] as const] : []));
}

function certification(level: number): string {
  const parameters = `<< /Type /TransformParams /P ${level} /V /1.2 >>`;
  return `[<< /Type /SigRef /TransformMethod /DocMDP /TransformParams ${parameters} >>]`;
}

/** Timestamp tokens are up to 8,000 bytes long. All runs use the same value, so that they prepare the same bytes. */
const TOKEN_RESERVE = 16 * 1024;
/** Additional bytes to reserve, in case the service returns a longer certificate with the signature. */
const RESERVE = 512;

export async function prepareSignature(opened: OpenedPdf, context: SigningContext): Promise<Prepared> {
  const planned = await planSignature(opened, context);
  const { algorithm, chain, timestampAlgorithm } = context;
  const placeholder = { type: DATA, messageDigest: new Uint8Array(DIGEST_LENGTH[algorithm]) };
  const longest = prepareCms(PDF_PROFILE, context, placeholder);
  const token = timestampAlgorithm && new Uint8Array(TOKEN_RESERVE);
  const space = longest.seal(new Uint8Array(chain.signatureLength), token).bytes.length + RESERVE;
  const { digest, embed } = await prepareRehearsed(opened, { ...planned, space });
  const messageDigest = await digest(algorithm);
  return {
    units: [prepareCms(PDF_PROFILE, context, { type: DATA, messageDigest })],
    embed: ([sealed]) => embed(sealed),
  };
}

/** Prepares an update with a document timestamp (ETSI EN 319 142-1, 5.4.3). */
export async function prepareTimestamp(
  opened: OpenedPdf,
  algorithm: DigestAlgorithm,
  force: boolean,
): Promise<PreparedTimestamp | undefined> {
  const { document, stored, fields } = opened;
  const last = stored.at(-1);
  if (last === undefined) throw formatErrors('not-signed');
  if (isDocumentTimestamp(last) && !force) return undefined;
  await checkChangeable(document, stored, undefined);
  const entries = [
    ['Type', '/DocTimeStamp'],
    ['SubFilter', '/ETSI.RFC3161'],
  ] as const;
  const field = freeName(fields, 'Timestamp');
  const firstNumber = await checkReferences(document);
  const wanted = { entries, field, firstNumber, space: TOKEN_RESERVE, certifies: false };
  const { digest, embed } = await prepareRehearsed(opened, wanted);
  return { digest: () => digest(algorithm), embed: (token) => embed(cmsEnvelope(token)) };
}

async function prepareRehearsed(opened: OpenedPdf, wanted: NewSignature) {
  const { document, stored, reader } = opened;
  const { content, result, put } = await prepareUpdate(document, wanted);
  await rehearse(opened, result);
  return {
    async digest(algorithm: DigestAlgorithm): Promise<Uint8Array> {
      const { digests } = await reader.measure(document.source, content, [algorithm]);
      return digests.get(algorithm) ?? NOTHING;
    },
    embed: (sealed: Envelope): Embedding => ({
      patch: put(sealed.bytes),
      added: [sealed],
      envelopes: [...stored.map(({ cms }) => cmsEnvelope(cms ?? NOTHING)), sealed],
    }),
  };
}

const NOTHING = new Uint8Array();

/** Before a signature is requested, checks the document as it will be when signed, so that no signature is wasted. */
async function rehearse({ stored, reader }: OpenedPdf, result: ByteSource): Promise<void> {
  const broken = (reason: string) => pdfSigningErrors('pdf-result-broken', { reason });
  const opened = await openWith(result, reader).catch(expectedError);
  if (opened instanceof CodesignError) throw broken(opened.message);
  const own = opened.stored.at(-1);
  if (own === undefined || opened.stored.length !== stored.length + 1) {
    throw broken('its signatures would not be found');
  }
  // At this point there is no timestamp token yet. The token will be verified when the authority returns it.
  const timestamp: OpenedPdf['timestamp'] = async (each) => {
    const found = await opened.timestamp(each);
    return each === own ? { ...found, findings: [] } : found;
  };
  for (const each of opened.stored) {
    const findings = await examineCoverage({ ...opened, timestamp }, each);
    const problem = findings.find((finding) => (each === own ? isObjection(finding) : finding.weight === 'broken'));
    if (problem !== undefined) throw broken(`"${each.field.name}": ${problem.message}`);
  }
}
