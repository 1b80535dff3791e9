import { DIGEST_NAME_BY_OID, digestAlgorithmOf } from '../../../asn1/algorithm-identifiers.ts';
import { DATA, SIGNING_CERTIFICATE, SIGNING_CERTIFICATE_V2 } from '../../../asn1/object-identifiers.ts';
import { examineSigner } from '../../../cms/verify-signer.ts';
import { attempt, CodesignError } from '../../../errors/codesign-error.ts';
import { broken, type Finding, rejected, unsupported } from '../../../errors/finding.ts';
import { plural } from '../../../errors/plural.ts';
import { examineSignerCount, examineUnread, MD5_WEAK, SHA1_AGING } from '../../../format/cms.ts';
import { signingCertificateProblem } from '../../../timestamp/signing-certificate.ts';
import type { OpenedPdf } from '../opened.ts';
import { PDF_PROFILE, type StoredSignature, signedDataOf } from '../stored.ts';
import { examineRevision } from './revisions.ts';

/**
 * Each byte that the signature covers is read only once. Returns no findings if the signature is valid and covers the
 * whole document.
 */
export async function examineStored(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  const findings = examineStorage(stored);
  if (findings.length > 0) return findings;
  return [...(await examineCms(opened, stored)), ...(await examineRevision(opened, stored))];
}

/** Examines all but the CMS signature itself. */
export async function examineCoverage(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  const findings = examineStorage(stored);
  return findings.length > 0 ? findings : examineRevision(opened, stored);
}

/** Examines the encoding of /Contents and /ByteRange. Forged signatures often use unusual encodings. */
export function examineStorage({
  subFilter,
  contents,
  ranges,
  cms,
  rest,
  dictionary,
}: StoredSignature): readonly Finding[] {
  if (contents === undefined || contents.bytes.length === 0) {
    return [broken('pdf-contents-missing', 'The signature has no /Contents with its value in hexadecimal digits.')];
  }
  if (ranges === undefined) {
    const what = dictionary.entries.has('ByteRange') ? 'does not cover everything around its /Contents' : 'is missing';
    return [broken('pdf-byte-range-wrong', `The /ByteRange of the signature ${what}.`)];
  }
  if (subFilter === undefined) {
    return [unsupported('pdf-signature-kind', 'The signature is of a kind (/SubFilter) that is not supported.')];
  }
  const hidden = rest.findLastIndex((byte) => byte !== 0) + 1;
  if (cms === undefined || hidden === 0) return [];
  const message = `The /Contents of the signature hide ${plural(hidden, 'byte')} after the CMS signature.`;
  return [broken('hidden-bytes', message)];
}

async function examineCms(opened: OpenedPdf, stored: StoredSignature): Promise<readonly Finding[]> {
  const signedData = signedDataOf(stored);
  if (signedData instanceof CodesignError) {
    return [rejected(signedData, signedData.code, `The signature cannot be read: ${signedData.message}.`)];
  }
  const several = examineSignerCount(signedData);
  if (several.length > 0) return several;
  const [signer] = signedData.signers;
  const algorithm =
    DIGEST_NAME_BY_OID[signer.digestAlgorithm] === 'md5' ? 'MD5' : digestAlgorithmOf(signer.digestAlgorithm);
  if (algorithm === undefined) {
    const message = `The digest algorithm ${signer.digestAlgorithm} is not known.`;
    return [unsupported('digest-algorithm-unknown', message)];
  }
  const digest = (await opened.digest(stored, algorithm)) ?? new Uint8Array();
  const findings = [...examineSigner(signedData, signer, { digest }, { budget: opened.reader.budget })];
  if (signedData.contentType !== DATA || signedData.content !== undefined) {
    findings.push(
      broken('content-type-differs', 'The signature contains its own content instead of the digest of the document.'),
    );
  }
  const types = signer.signedAttributes.map(({ type }) => type);
  const isNamed = types.includes(SIGNING_CERTIFICATE) || types.includes(SIGNING_CERTIFICATE_V2);
  if (signer.certificate !== undefined && (isNamed || stored.subFilter === 'ETSI.CAdES.detached')) {
    const { certificate } = signer;
    const problem = attempt(() => signingCertificateProblem(signer.signedAttributes, certificate));
    if (problem !== undefined) {
      const reason = problem instanceof CodesignError ? problem.message : problem;
      findings.push(broken('signing-certificate-differs', `The signature is not bound to its certificate: ${reason}.`));
    }
  }
  if (algorithm === 'MD5') findings.push(MD5_WEAK);
  if (algorithm === 'SHA1') findings.push(SHA1_AGING);
  return [...findings, ...examineUnread(PDF_PROFILE, signer.unsignedAttributes)];
}
