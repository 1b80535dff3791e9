// `node server/demo/tsa.mjs [--port N] [--root FILE]` serves timestamps (RFC 3161) on loopback, for demonstrations and tests.
// Its key is new at each start, and the person who runs it can set its clock: its timestamps are no proof of time.
import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import * as asn1 from 'asn1js';
import * as pki from 'pkijs';

const DIGEST_LENGTH = {
  '2.16.840.1.101.3.4.2.1': 32, // SHA-256
  '2.16.840.1.101.3.4.2.2': 48, // SHA-384
  '2.16.840.1.101.3.4.2.3': 64, // SHA-512
};
/** A policy under the arc for examples (RFC 5612). */
const POLICY = '1.3.6.1.4.1.32473.3161.1';
const YEAR = 365 * 24 * 60 * 60 * 1000;
const LARGEST_QUERY = 4096;

const USAGE = `Usage: node server/demo/tsa.mjs [--port N] [--root FILE]

Serves timestamps (RFC 3161) at http://127.0.0.1:N/ (default 3161; 0: a free port) until it is stopped.
--root writes the root certificate, PEM, for verifiers.`;

await main();

async function main() {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '3161' }, root: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help) return console.log(USAGE);
  const authority = await makeAuthority();
  if (values.root !== undefined) await writeFile(values.root, pem(authority.root));
  const server = createServer((request, response) => {
    reply(authority, request).then(
      (body) => response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(body),
      (error) => response.writeHead(500).end(`${error}\n`),
    );
  });
  server.listen(Number(values.port), '127.0.0.1', () => {
    console.log(`timestamps at http://127.0.0.1:${server.address().port}/`);
  });
}

async function reply(authority, request) {
  const query = readQuery(await buffer(request));
  if (query === undefined) return rejection('the request is not a TimeStampReq with SHA-256, SHA-384 or SHA-512');
  const status = new pki.PKIStatusInfo({ status: pki.PKIStatus.granted });
  return der(new pki.TimeStampResp({ status, timeStampToken: await makeToken(authority, query) }));
}

function readQuery(body) {
  try {
    const query = pki.TimeStampReq.fromBER(body.subarray(0, LARGEST_QUERY));
    const { hashAlgorithm, hashedMessage } = query.messageImprint;
    const { length } = hashedMessage.valueBlock.valueHexView;
    return length === DIGEST_LENGTH[hashAlgorithm.algorithmId] && query.extensions === undefined ? query : undefined;
  } catch {
    return undefined; // pkijs throws errors of several classes
  }
}

function rejection(text) {
  const failInfo = new asn1.BitString({ valueHex: Uint8Array.of(0x20), unusedBits: 5 }); // badRequest
  const statusStrings = [new asn1.Utf8String({ value: text })];
  const status = new pki.PKIStatusInfo({ status: pki.PKIStatus.rejection, statusStrings, failInfo });
  return der(new pki.TimeStampResp({ status }));
}

async function makeToken({ key, leaf, root }, { messageImprint, nonce, certReq }) {
  const now = wholeSeconds(Date.now());
  const serialNumber = randomSerial();
  const info = der(
    new pki.TSTInfo({
      version: 1,
      policy: POLICY,
      messageImprint,
      serialNumber,
      genTime: now,
      ...(nonce && { nonce }),
    }),
  );
  const encapContentInfo = new pki.EncapsulatedContentInfo({ eContentType: pki.id_eContentType_TSTInfo });
  encapContentInfo.eContent = new asn1.OctetString({ valueHex: info }); // the constructor would split it, which DER forbids
  // DER sorts a SET by its encodings: these are sorted, because their lengths ascend.
  const attributes = [
    attribute('1.2.840.113549.1.9.3', new asn1.ObjectIdentifier({ value: pki.id_eContentType_TSTInfo })),
    attribute('1.2.840.113549.1.9.5', new asn1.UTCTime({ valueDate: now })),
    attribute('1.2.840.113549.1.9.4', new asn1.OctetString({ valueHex: sha256(info) })),
    attribute('1.2.840.113549.1.9.16.2.47', signingCertificateV2(leaf)),
  ];
  const signedData = new pki.SignedData({
    version: 3,
    encapContentInfo,
    certificates: certReq ? [leaf, root].sort((a, b) => Buffer.compare(der(a), der(b))) : undefined,
    signerInfos: [
      new pki.SignerInfo({
        version: 1,
        sid: new pki.IssuerAndSerialNumber({ issuer: leaf.issuer, serialNumber: leaf.serialNumber }),
        signedAttrs: new pki.SignedAndUnsignedAttributes({ type: 0, attributes }),
      }),
    ],
  });
  await signedData.sign(key, 0, 'SHA-256');
  return new pki.ContentInfo({ contentType: pki.ContentInfo.SIGNED_DATA, content: signedData.toSchema(true) });
}

/** SigningCertificateV2 (RFC 5035) with the SHA-256 of the certificate, which is the default. */
function signingCertificateV2(certificate) {
  const id = new asn1.Sequence({ value: [new asn1.OctetString({ valueHex: sha256(der(certificate)) })] });
  return new asn1.Sequence({ value: [new asn1.Sequence({ value: [id] })] });
}

/** A root and a certificate for timestamps under it, each with a new key. */
async function makeAuthority() {
  const [rootKeys, keys] = await Promise.all([makeKeys(), makeKeys()]);
  const rootName = name(`Demo Timestamp CA ${randomBytes(4).toString('hex')}`);
  const root = await certify(rootName, rootKeys, { name: rootName, keys: rootKeys }, [
    extension(pki.id_BasicConstraints, new pki.BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema()),
    extension(pki.id_KeyUsage, new asn1.BitString({ valueHex: Uint8Array.of(0x06), unusedBits: 1 })),
  ]);
  const leaf = await certify(name('Demo Timestamp Authority'), keys, { name: rootName, keys: rootKeys }, [
    extension(pki.id_KeyUsage, new asn1.BitString({ valueHex: Uint8Array.of(0x80), unusedBits: 7 })),
    extension(pki.id_ExtKeyUsage, new pki.ExtKeyUsage({ keyPurposes: ['1.3.6.1.5.5.7.3.8'] }).toSchema()),
  ]);
  return { key: keys.privateKey, leaf, root };
}

/** RSA, because NuGet accepts no other timestamps. */
function makeKeys() {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 };
  return webcrypto.subtle.generateKey({ ...algorithm, publicExponent: Uint8Array.of(1, 0, 1) }, true, [
    'sign',
    'verify',
  ]);
}

async function certify(subject, { publicKey }, issuer, extensions) {
  const certificate = new pki.Certificate({
    version: 2, // version 3
    serialNumber: randomSerial(),
    issuer: issuer.name,
    notBefore: new pki.Time({ type: 0, value: wholeSeconds(Date.now() - 60 * 60 * 1000) }),
    notAfter: new pki.Time({ type: 0, value: wholeSeconds(Date.now() + 10 * YEAR) }),
    subject,
    extensions,
  });
  await certificate.subjectPublicKeyInfo.importKey(publicKey);
  const keyId = createHash('sha1').update(certificate.subjectPublicKeyInfo.subjectPublicKey.valueBlock.valueHexView);
  certificate.extensions.push(
    extension(pki.id_SubjectKeyIdentifier, new asn1.OctetString({ valueHex: keyId.digest() }), false),
  );
  await certificate.sign(issuer.keys.privateKey, 'SHA-256');
  return certificate;
}

function extension(extnID, value, critical = true) {
  return new pki.Extension({ extnID, critical, extnValue: value.toBER() });
}

function name(commonName) {
  const value = new asn1.Utf8String({ value: commonName });
  return new pki.RelativeDistinguishedNames({
    typesAndValues: [new pki.AttributeTypeAndValue({ type: '2.5.4.3', value })],
  });
}

function attribute(type, value) {
  return new pki.Attribute({ type, values: [value] });
}

/** Positive, and never shorter than 16 bytes. */
function randomSerial() {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] & 0x3f) | 0x40;
  return new asn1.Integer({ valueHex: bytes });
}

/** DER forbids the trailing zeros that asn1js would write in a fraction of a second. */
function wholeSeconds(time) {
  return new Date(Math.floor(time / 1000) * 1000);
}

function der(structure) {
  return Buffer.from(structure.toSchema().toBER());
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest();
}

function pem(certificate) {
  const lines = der(certificate)
    .toString('base64')
    .match(/.{1,64}/g);
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
