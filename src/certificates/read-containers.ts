/** Reads the certificates in PEM (RFC 7468), DER, PKCS#7 (RFC 2315) and PKCS#12 (RFC 7292) files. */

import { SIGNED_DATA } from '../asn1/object-identifiers.ts';
import { fieldsOf, objectIdentifierOf, onlyPart, parts, readElement } from '../asn1/read.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Secret } from '../secrets/secret.ts';
import { certificateErrors } from './errors.ts';
import type { CertificateFile } from './pkcs12.ts';

/** A bundle of every public root is 0.25 MB. */
const MAX_FILE_LENGTH = 4 * 1024 * 1024;
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----((?:[^-]|-(?!----))*)-----END \1-----/g;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16LE_MARK = Buffer.from([0xff, 0xfe]);

/** Returns the DER certificates of one file in file order. Ignores keys. */
export async function readContainer(file: CertificateFile, password: Secret | undefined): Promise<Uint8Array[]> {
  if (file.bytes.length > MAX_FILE_LENGTH) {
    const size = file.bytes.length;
    throw certificateErrors('certificate-file-too-large', { file: file.name, size, limit: MAX_FILE_LENGTH });
  }
  if (file.bytes.length === 0) throw certificateErrors('certificate-missing', { file: file.name });
  try {
    const certificates = isDer(file.bytes) ? await readDer(file, password) : readPem(file);
    if (certificates.length === 0) throw certificateErrors('certificate-missing', { file: file.name });
    return certificates;
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code !== 'asn1-malformed') throw thrown;
    throw unreadable(file, thrown.message, thrown);
  }
}

/** Recognises a SEQUENCE with a long length, or with a short length that fits. No text begins like this. */
function isDer(bytes: Uint8Array): boolean {
  const [tag, length = 0] = bytes;
  return tag === 0x30 && (length >= 0x80 || length === bytes.length - 2);
}

async function readDer(file: CertificateFile, password: Secret | undefined): Promise<Uint8Array[]> {
  const outer = readElement(file.bytes, file.name);
  const [first] = parts(outer, file.name);
  switch (first?.tag) {
    case 0x30: // the body of a certificate
      return [outer.bytes];
    case 0x06: // a content type
      return readPkcs7(outer.bytes, file);
    case 0x02: // A version: 3 in PKCS#12, 0 or 1 in private keys.
      if (first.contents.length === 1 && first.contents[0] === 3) {
        const { readPkcs12 } = await import('./pkcs12.ts');
        return readPkcs12(file, password);
      }
      throw certificateErrors('certificate-is-private-key', { file: file.name });
    default:
      throw unreadable(file, 'DER of an unknown kind');
  }
}

/** Reads the `certificates` of a SignedData, which may have no signer. */
function readPkcs7(der: Uint8Array, file: CertificateFile): Uint8Array[] {
  const what = 'PKCS#7';
  const contentInfo = fieldsOf(readElement(der, what), 0x30, what);
  const type = objectIdentifierOf(contentInfo.next(0x06, 'content type'), what);
  if (type !== SIGNED_DATA) throw unreadable(file, `PKCS#7 of type ${type}, which holds no certificates`);
  const signedData = fieldsOf(onlyPart(contentInfo.next(0xa0, 'content'), what), 0x30, what);
  signedData.next(0x02, 'version');
  signedData.next(0x31, 'digest algorithms');
  signedData.next(0x30, 'content info');
  const certificates = signedData.optional(0xa0);
  if (certificates === undefined) return [];
  return parts(certificates, what).flatMap(({ tag, bytes }) => (tag === 0x30 ? [bytes] : []));
}

function readPem(file: CertificateFile): Uint8Array[] {
  const certificates: Uint8Array[] = [];
  let keys = 0;
  let others = 0;
  for (const [, label = '', body = ''] of textOf(file.bytes).matchAll(PEM_BLOCK)) {
    if (/^(X509 |TRUSTED )?CERTIFICATE$/.test(label)) certificates.push(Buffer.from(body, 'base64'));
    else if (label === 'PKCS7' || label === 'CMS') {
      for (const certificate of readPkcs7(Buffer.from(body, 'base64'), file)) certificates.push(certificate);
    } else if (label.endsWith('PRIVATE KEY')) keys += 1;
    else others += 1;
  }
  if (certificates.length > 0) return certificates;
  if (keys > 0) throw certificateErrors('certificate-is-private-key', { file: file.name });
  if (others > 0) throw certificateErrors('certificate-missing', { file: file.name });
  throw unreadable(file, 'neither PEM nor DER');
}

/** PEM is ASCII, but editors and shells on Windows write UTF-16 or a UTF-8 byte order mark. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 2).equals(UTF16LE_MARK)) return buffer.toString('utf16le');
  return buffer.subarray(buffer.subarray(0, 3).equals(UTF8_MARK) ? 3 : 0).toString('latin1');
}

function unreadable(file: CertificateFile, problem: string, cause?: unknown) {
  return certificateErrors('certificate-file-unreadable', { file: file.name, problem }, { cause });
}
