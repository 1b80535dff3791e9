/** A throw-away certificate authority for TLS servers in tests, made in memory: no OpenSSL on the machine is needed. */

import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const DAY = 86_400_000;

export interface IssueOptions {
  /** DNS names and IP addresses of the subject alternative name; without any, the certificate has no such extension. */
  readonly names: readonly string[];
  /** Default: the first of the names. */
  readonly commonName?: string;
  readonly notBefore?: Date | undefined;
  readonly notAfter?: Date | undefined;
}

export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
}

export interface TlsAuthority {
  /** PEM of the root. */
  readonly root: string;
  issue(options: IssueOptions): Promise<ServerIdentity>;
}

export async function createTlsAuthority(commonName = 'Test TLS Root'): Promise<TlsAuthority> {
  const keys = await generateKeys();
  const root = certificate(commonName, commonName, new Date(Date.now() - DAY), new Date(Date.now() + 365 * DAY));
  root.extensions = [
    extension('2.5.29.19', true, new pkijs.BasicConstraints({ cA: true }).toSchema()),
    // keyCertSign and cRLSign.
    extension('2.5.29.15', true, new asn1js.BitString({ valueHex: Uint8Array.of(0x06).buffer, unusedBits: 1 })),
  ];
  await root.subjectPublicKeyInfo.importKey(keys.publicKey);
  await root.sign(keys.privateKey, 'SHA-256');

  return {
    root: pem('CERTIFICATE', root.toSchema().toBER()),
    async issue({ names, commonName: subject = names[0] ?? 'nameless', notBefore, notAfter }) {
      const own = await generateKeys();
      const start = notBefore ?? new Date(Date.now() - DAY);
      const leaf = certificate(commonName, subject, start, notAfter ?? new Date(Date.now() + 30 * DAY));
      const altNames = new pkijs.GeneralNames({ names: names.map(generalName) });
      leaf.extensions = [
        ...(names.length > 0 ? [extension('2.5.29.17', false, altNames.toSchema())] : []),
        // serverAuth.
        extension('2.5.29.37', false, new pkijs.ExtKeyUsage({ keyPurposes: ['1.3.6.1.5.5.7.3.1'] }).toSchema()),
      ];
      await leaf.subjectPublicKeyInfo.importKey(own.publicKey);
      await leaf.sign(keys.privateKey, 'SHA-256');
      const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
      return { cert: pem('CERTIFICATE', leaf.toSchema().toBER()), key: pem('PRIVATE KEY', pkcs8) };
    },
  };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function certificate(issuer: string, subject: string, notBefore: Date, notAfter: Date): pkijs.Certificate {
  const serial = webcrypto.getRandomValues(new Uint8Array(8));
  serial.set([0x40], 0);
  const made = new pkijs.Certificate({
    version: 2,
    serialNumber: new asn1js.Integer({ valueHex: serial.buffer }),
    notBefore: new pkijs.Time({ type: 0, value: notBefore }),
    notAfter: new pkijs.Time({ type: 0, value: notAfter }),
  });
  made.issuer.typesAndValues.push(commonNameOf(issuer));
  made.subject.typesAndValues.push(commonNameOf(subject));
  return made;
}

function commonNameOf(text: string): pkijs.AttributeTypeAndValue {
  return new pkijs.AttributeTypeAndValue({ type: '2.5.4.3', value: new asn1js.Utf8String({ value: text }) });
}

function extension(extnID: string, critical: boolean, value: asn1js.BaseBlock): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER() });
}

function generalName(name: string): pkijs.GeneralName {
  if (isIP(name) === 0) return new pkijs.GeneralName({ type: 2, value: name });
  const bytes = name === '::1' ? [...Array<number>(15).fill(0), 1] : name.split('.').map(Number);
  return new pkijs.GeneralName({ type: 7, value: new asn1js.OctetString({ valueHex: Uint8Array.from(bytes).buffer }) });
}

function pem(label: string, der: ArrayBuffer): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
