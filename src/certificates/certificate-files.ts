import {
  CERTIFICATE_BAG,
  DATA,
  ENCRYPTED_DATA,
  PBES2,
  SAFE_CONTENTS_BAG,
  SIGNED_DATA,
  X509_CERTIFICATE,
} from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, octetsOf, onlyPart, parts, readElement } from '../asn1/read.ts';
import { octetString, sequence } from '../asn1/write.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import type { Secret } from '../secrets/secret.ts';
import { certificateErrors } from './errors.ts';

export interface CertificateFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A file with all public root certificates is 0.25 MB long. */
const MAX_FILE_LENGTH = 4 * 1024 * 1024;
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----((?:[^-]|-(?!----))*)-----END \1-----/g;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16LE_MARK = Buffer.from([0xff, 0xfe]);

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

/**
 * A text file never begins with the bytes of a SEQUENCE that has a long-form length, or a length that matches the file.
 */
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
      if (first.contents.length === 1 && first.contents[0] === 3) return await readPkcs12(file, password);
      throw certificateErrors('certificate-is-private-key', { file: file.name });
    default:
      throw unreadable(file, 'the type of its DER is unknown');
  }
}

function readPkcs7(der: Uint8Array, file: CertificateFile): Uint8Array[] {
  const what = 'PKCS#7';
  const contentInfo = fieldsOf(readElement(der, what), 0x30, what);
  const type = objectIdentifierOf(contentInfo.next(0x06, 'content type'), what);
  if (type !== SIGNED_DATA) throw unreadable(file, `PKCS#7 of type ${type}, which contains no certificates`);
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
  throw unreadable(file, 'it is neither PEM nor DER');
}

/** PEM is ASCII, but editors and shells on Windows write UTF-16, or UTF-8 with a byte order mark. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 2).equals(UTF16LE_MARK)) return buffer.toString('utf16le');
  return buffer.subarray(buffer.subarray(0, 3).equals(UTF8_MARK) ? 3 : 0).toString('latin1');
}

function unreadable(file: CertificateFile, problem: string, cause?: unknown) {
  return certificateErrors('certificate-file-unreadable', { file: file.name, problem }, { cause });
}

/**
 * Limit on the total number of key-derivation iterations in a file. Real files have up to 100,000; without a limit, a
 * hostile file could take hours.
 */
const MAX_ITERATIONS = 600_000;
/** The format allows bags inside bags, but real files contain none. */
const MAX_BAG_DEPTH = 4;

/**
 * Does not decrypt key bags: the signer's key is in the HSM. Does not check the MAC: a certificate that does not match
 * the service's key is rejected later.
 */
async function readPkcs12(file: CertificateFile, password: Secret | undefined): Promise<Uint8Array[]> {
  const what = 'PKCS#12';
  const pfx = fieldsOf(readElement(file.bytes, what), 0x30, what);
  pfx.next(0x02, 'version');
  const authSafe = fieldsOf(pfx.next(0x30, 'contents'), 0x30, what);
  if (objectIdentifierOf(authSafe.next(0x06, 'content type'), what) !== DATA) {
    throw unsupported(file, 'sealed with a public key');
  }
  const safe = readElement(octetsOf(onlyPart(authSafe.next(0xa0, 'content'), what), what), what);

  const contents = parts(safe, what).map((part) => readPart(part, file));
  const iterations = contents.reduce((sum, content) => sum + (content.encrypted?.iterations ?? 0), 0);
  if (iterations > MAX_ITERATIONS) throw unsupported(file, `${iterations} iterations, at most ${MAX_ITERATIONS}`);

  const certificates: Uint8Array[][] = [];
  for (const { clear, encrypted } of contents) {
    const bags = encrypted === undefined ? clear : await decrypt(encrypted, file, password);
    if (bags !== undefined) certificates.push(certificatesOf(bags));
  }
  return certificates.flat();
}

/** Returns an empty object if the contents are encrypted for a public key. */
function readPart(part: Element, file: CertificateFile): { clear?: Element; encrypted?: EncryptedData } {
  const what = 'PKCS#12';
  const contentInfo = fieldsOf(part, 0x30, what);
  const type = objectIdentifierOf(contentInfo.next(0x06, 'content type'), what);
  const content = onlyPart(contentInfo.next(0xa0, 'content'), what);
  if (type === DATA) return { clear: readElement(octetsOf(content, what), what) };
  return type === ENCRYPTED_DATA ? { encrypted: readEncryptedData(content, file) } : {};
}

function certificatesOf(safeContents: Element, depth = 0): Uint8Array[] {
  const what = 'PKCS#12 bag';
  return parts(safeContents, what).flatMap((part) => {
    const bag = fieldsOf(part, 0x30, what);
    const type = objectIdentifierOf(bag.next(0x06, 'type'), what);
    const value = bag.next(0xa0, 'value');
    if (type === SAFE_CONTENTS_BAG && depth < MAX_BAG_DEPTH) return certificatesOf(onlyPart(value, what), depth + 1);
    if (type !== CERTIFICATE_BAG) return [];
    const certificate = fieldsOf(onlyPart(value, what), 0x30, what);
    if (objectIdentifierOf(certificate.next(0x06, 'certificate type'), what) !== X509_CERTIFICATE) return [];
    return [octetsOf(onlyPart(certificate.next(0xa0, 'certificate'), what), what)];
  });
}

type EncryptedData = ReturnType<typeof readEncryptedData>;

function readEncryptedData(encryptedData: Element, file: CertificateFile) {
  const what = 'PKCS#12 encrypted data';
  const fields = fieldsOf(encryptedData, 0x30, what);
  fields.next(0x02, 'version');
  const contentInfo = fieldsOf(fields.next(0x30, 'content info'), 0x30, what);
  contentInfo.next(0x06, 'content type');
  const algorithm = contentInfo.next(0x30, 'algorithm');
  const tagged = contentInfo.any('content'); // [0] IMPLICIT OCTET STRING, in BER possibly in pieces
  const ciphertext =
    tagged.tag === 0xa0 ? Buffer.concat(parts(tagged, what).map((piece) => octetsOf(piece, what))) : tagged.contents;
  return { ...readEncryption(algorithm, file), algorithm: algorithm.bytes, ciphertext };
}

/** A wrong password leads to wrong padding, or to bytes that are not SafeContents. */
async function decrypt(
  { algorithm, ciphertext, isPbes2 }: EncryptedData,
  file: CertificateFile,
  password: Secret | undefined,
): Promise<Element> {
  const { default: forge } = await import('node-forge');
  // forge's function for private keys decrypts any data encrypted with a password.
  const encrypted = sequence(algorithm, octetString(ciphertext));
  const text = password?.reveal() ?? '';
  try {
    const clear = forge.pki.decryptPrivateKeyInfo(
      forge.asn1.fromDer(Buffer.from(encrypted).toString('latin1')),
      isPbes2 ? forge.util.encodeUtf8(text) : text,
    );
    // forge returns null for wrong padding, although its types exclude null.
    if (clear) return readElement(Buffer.from(forge.asn1.toDer(clear).getBytes(), 'latin1'), 'PKCS#12 bags');
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    if (/unsupported|cannot read/i.test(problem)) throw unsupported(file, problem, cause);
  }
  const code = password === undefined ? 'certificate-password-missing' : 'certificate-password-wrong';
  throw certificateErrors(code, { file: file.name });
}

/** The parameters of PBES2 are one level deeper. */
function readEncryption(algorithm: Element, file: CertificateFile) {
  const what = 'PKCS#12 encryption';
  const fields = fieldsOf(algorithm, 0x30, what);
  const isPbes2 = objectIdentifierOf(fields.next(0x06, 'algorithm'), what) === PBES2;
  let parameters = fieldsOf(fields.next(0x30, 'parameters'), 0x30, what);
  if (isPbes2) {
    const derivation = fieldsOf(parameters.next(0x30, 'key derivation'), 0x30, what);
    derivation.next(0x06, 'function');
    parameters = fieldsOf(derivation.next(0x30, 'parameters'), 0x30, what);
  }
  parameters.any('salt');
  const { contents } = parameters.next(0x02, 'iterations');
  const iterations = Number(`0x${Buffer.from(contents).toString('hex') || '0'}`);
  if (iterations === 0 || (contents[0] ?? 0) >= 0x80) throw unsupported(file, 'fewer iterations than one');
  return { isPbes2, iterations };
}

function unsupported(file: CertificateFile, problem: string, cause?: unknown) {
  return certificateErrors('certificate-encryption-unsupported', { file: file.name, problem }, { cause });
}
