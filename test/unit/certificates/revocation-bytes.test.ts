/** CRLs, OCSP answers and certificates with one byte changed, for every 16th byte: unknown or rejected by name, never a crash. */

import { beforeAll, describe, expect, it } from 'vitest';
import { examinePath } from '../../../src/certificates/examine-path.ts';
import { parseCertificate } from '../../../src/certificates/parsed-certificate.ts';
import { readCrls } from '../../../src/certificates/revocation/crl.ts';
import { findInCrl } from '../../../src/certificates/revocation/crl-entries.ts';
import { buildOcspRequest } from '../../../src/certificates/revocation/ocsp-response.ts';
import { statusByOcsp } from '../../../src/certificates/revocation/ocsp-status.ts';
import { statusByCrl } from '../../../src/certificates/revocation/status.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { AUTHORITY, answerOcsp, type Made, make, makeCrl, SIGNER } from '../verifying/support/openssl-pki.ts';

const NOW = new Date();
const RESPONDER = ['keyUsage=digitalSignature', 'extendedKeyUsage=OCSPSigning'];

let issuer: Made;
let leaf: Made;
beforeAll(() => {
  issuer = make({ subject: 'Issuer' });
  leaf = make({ subject: 'Publisher', issuer });
});

/** The bytes with one of them changed: every fourth byte, each in one of four ways. */
function* changed(bytes: Uint8Array): Generator<Uint8Array> {
  for (const [start, change] of [0x01, 0x20, 0x80, 0xff].entries()) {
    for (let index = 4 * start; index < bytes.length; index += 16) {
      const copy = Uint8Array.from(bytes);
      copy[index] = (copy[index] ?? 0) ^ change;
      yield copy;
    }
  }
}

/** What was signed cannot be changed; only the signature of an ECDSA key can be written in other ways. */
describe('with a byte changed', () => {
  it('an OCSP answer never says what it did not say', () => {
    const responder = make({ subject: 'Responder', issuer, extensions: RESPONDER });
    const request = buildOcspRequest(leaf.parsed, issuer.parsed);
    const answer = answerOcsp({ authority: issuer, responder, request, known: [leaf] });
    const kinds = new Set([...changed(answer)].map((der) => statusByOcsp(der, leaf.parsed, issuer.parsed, NOW).kind));
    kinds.delete('good');
    expect([...kinds]).toEqual(['unknown']);
  });

  it('a CRL never says what it did not say, and is read or rejected whatever its signer', () => {
    const pem = makeCrl({
      issuer,
      revoked: [{ certificate: leaf, date: '240101000000Z', reason: 'keyTime,20230101000000Z' }],
      to: '20400101000000Z',
      extensions: ['issuingDistributionPoint=critical,@point'],
      sections: '[point]\nonlyuser=TRUE',
    });
    const der = openssl(['crl', '-outform', 'DER', '-in', 'in'], { in: pem });
    for (const bytes of changed(der)) {
      const crls = readCrls(bytes);
      if (typeof crls === 'string') continue;
      for (const crl of crls) {
        expect(statusByCrl(crl, leaf.parsed, issuer.parsed, NOW).kind).not.toBe('good');
        // As an authority could have signed it.
        expect(['good', 'revoked', 'unknown']).toContain(
          statusByCrl(crl, leaf.parsed, issuer.parsed, NOW, () => true).kind,
        );
        expect(orError(() => findInCrl(crl, { ...leaf.parsed, ...leaf.parsed.fields }))).not.toBeInstanceOf(TypeError);
      }
    }
  });

  it('a certificate is checked or refused, as a leaf and as an authority', () => {
    const constrained = make({
      subject: '/C=DE/CN=Odd',
      issuer,
      extensions: [...AUTHORITY, 'nameConstraints=critical,permitted;dirName:dir,excluded;IP:10.0.0.0/255.0.0.0'],
      sections: '[dir]\nC=DE',
    });
    const named = make({
      subject: '/C=DE/CN=P',
      issuer,
      extensions: [...SIGNER, 'subjectAltName=IP:10.1.1.1,URI:http://a/'],
    });
    for (const der of [...changed(constrained.der), ...changed(named.der)]) {
      const parsed = orError(() => parseCertificate(der, 'changed'));
      if (parsed instanceof Error) {
        expect(parsed).toBeInstanceOf(CodesignError);
        continue;
      }
      for (const certificates of [[parsed], [named.parsed, parsed, issuer.parsed], [parsed, constrained.parsed]]) {
        const findings = examinePath({ certificates, isAnchored: true, at: NOW, purpose: 'code-signing' });
        expect(findings.every(({ message }) => message.endsWith('.'))).toBe(true);
      }
    }
  });
});

function orError<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}
