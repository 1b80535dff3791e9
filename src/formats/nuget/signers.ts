import {
  COMMITMENT_TYPE,
  COUNTER_SIGNATURE,
  NUGET_OWNERS,
  NUGET_SERVICE_INDEX,
  PROOF_OF_ORIGIN,
  PROOF_OF_RECEIPT,
  SIGNING_TIME,
} from '../../asn1/object-identifiers.ts';
import { type Element, fieldsOf, firstParts, objectIdentifierOf } from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { readCertificateFields } from '../../certificates/certificate.ts';
import { isLifetimeSigner } from '../../certificates/purpose.ts';
import { attributeValues, parseSignerInfo, type SignedData, type SignerInfo } from '../../cms/parse-signed-data.ts';
import { keyOf } from '../../cms/verify-signer.ts';
import { attempt, type CodesignError, orUndefined } from '../../errors/codesign-error.ts';
import { broken, type Finding, untrusted, warning } from '../../errors/finding.ts';
import type { Detail } from '../../format/signature.ts';
import { signingCertificateProblem } from '../../timestamp/signing-certificate.ts';

export type Role = 'author' | 'repository' | 'unknown';

const LEAST_BITS = 2048;
const MOST_COUNTERSIGNATURES = 8;
const MOST_OWNERS = 64;
const LONGEST_TEXT = 4096;

export function roleOf({ signedAttributes }: SignerInfo): Role {
  const commitments = attributeValues(signedAttributes, COMMITMENT_TYPE).map((value) =>
    orUndefined(() => objectIdentifierOf(fieldsOf(value, 0x30, 'commitment').next(0x06, 'commitment'), 'commitment')),
  );
  if (commitments.includes(PROOF_OF_ORIGIN)) return commitments.includes(PROOF_OF_RECEIPT) ? 'unknown' : 'author';
  return commitments.includes(PROOF_OF_RECEIPT) ? 'repository' : 'unknown';
}

export function countersignersOf({
  certificates,
  signers: [{ unsignedAttributes }],
}: SignedData): readonly (SignerInfo | CodesignError)[] {
  return attributeValues(unsignedAttributes, COUNTER_SIGNATURE)
    .slice(0, MOST_COUNTERSIGNATURES)
    .map(({ bytes }) => attempt(() => parseSignerInfo(bytes, certificates)));
}

/** Examines the attributes and the certificate, which NuGet requires in addition to a valid signature value. */
export function* examineAttributes(signer: SignerInfo): Generator<Finding> {
  const { signedAttributes, certificate } = signer;
  if (orUndefined(() => signingTimeOf(signer)) === undefined) {
    yield broken('signing-time-missing', 'The signature has no signing time, which NuGet requires.');
  }
  const role = roleOf(signer);
  if (role === 'unknown') {
    const message = 'The signature has no commitment type that names its maker: the author or a repository.';
    yield warning('signature-role-unknown', message);
  }
  if (role === 'repository' && serviceIndexOf(signer) === undefined) {
    const message = 'The repository signature does not name the service index of its repository.';
    yield broken('service-index-missing', message);
  }
  if (certificate === undefined) return;
  const problem = attempt(() => signingCertificateProblem(signedAttributes, certificate));
  if (problem !== undefined) {
    const reason = typeof problem === 'string' ? problem : problem.message;
    yield broken('signing-certificate-differs', `NuGet rejects the signature: ${reason}.`);
  }
  const unfit = certificateProblem(certificate);
  if (unfit !== undefined) yield untrusted('nuget-certificate', `NuGet rejects the certificate: ${unfit}.`);
}

/** Returns a clause that says why NuGet rejects the certificate. */
export function certificateProblem(certificate: Uint8Array): string | undefined {
  if (isLifetimeSigner(readCertificateFields(certificate))) return 'it is for lifetime signing';
  const key = keyOf(certificate);
  const bits = key?.asymmetricKeyDetails?.modulusLength;
  if (key?.asymmetricKeyType !== 'rsa') return 'its key is not an RSA key';
  return bits === undefined || bits < LEAST_BITS ? `its RSA key has ${bits ?? 0} bits` : undefined;
}

function signingTimeOf({ signedAttributes }: SignerInfo): Date | undefined {
  const [value] = attributeValues(signedAttributes, SIGNING_TIME);
  return value && readTime(value, 'signing time');
}

function serviceIndexOf({ signedAttributes }: SignerInfo): string | undefined {
  const [value] = attributeValues(signedAttributes, NUGET_SERVICE_INDEX);
  return value && textOf(value);
}

function textOf({ contents }: Element): string {
  return Buffer.from(contents.subarray(0, LONGEST_TEXT)).toString('utf8');
}

export function describeSigner(signer: SignerInfo, prefix: string): readonly Detail[] {
  const time = orUndefined(() => signingTimeOf(signer));
  const index = serviceIndexOf(signer);
  const [owners] = attributeValues(signer.signedAttributes, NUGET_OWNERS);
  const names = owners && orUndefined(() => firstParts(owners, 'owners', MOST_OWNERS).map(textOf));
  const details = {
    'signing time': time && `${time.toISOString()} (as the signer says)`,
    'service index': index,
    'package owners': names?.join(', '),
  };
  return Object.entries(details).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name: prefix + name, value }],
  );
}
