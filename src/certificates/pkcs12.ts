/**
 * Reads the certificates in a PKCS#12 file (RFC 7292). Its key bags are never decrypted, because the signing key is
 * elsewhere. Its MAC is not checked either: the certificates are public, and a later check finds one that does not
 * match the service's key.
 */

import {
  CERTIFICATE_BAG,
  DATA,
  ENCRYPTED_DATA,
  PBES2,
  SAFE_CONTENTS_BAG,
  X509_CERTIFICATE,
} from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, octetsOf, onlyPart, parts, readElement } from '../asn1/read.ts';
import { octetString, sequence } from '../asn1/write.ts';
import type { Secret } from '../secrets/secret.ts';
import { certificateErrors } from './errors.ts';

export interface CertificateFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Total iterations in a file. Real files have up to 100,000; without a limit, a hostile file could take hours. */
const MAX_ITERATIONS = 600_000;
/** Nesting depth of bags. Real files have none inside others. */
const MAX_BAG_DEPTH = 4;

/**
 * Returns DER certificates. Throws `certificate-password-…`, `certificate-encryption-unsupported`, `asn1-malformed`.
 */
export async function readPkcs12(file: CertificateFile, password: Secret | undefined): Promise<Uint8Array[]> {
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

  const certificates: Uint8Array[] = [];
  for (const { clear, encrypted } of contents) {
    const held = [
      ...(clear === undefined ? [] : certificatesOf(clear)),
      ...(encrypted === undefined ? [] : certificatesOf(await decrypt(encrypted, file, password))),
    ];
    for (const certificate of held) certificates.push(certificate);
  }
  return certificates;
}

/** Returns SafeContents or its encrypted form; neither if it is encrypted for a public key. */
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

/** `algorithm` is the whole AlgorithmIdentifier; `iterations` is the cost of decryption with the password. */
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

/** EncryptedData → SafeContents. A wrong password gives wrong padding, or bytes that are not SafeContents. */
async function decrypt(
  { algorithm, ciphertext, isPbes2 }: EncryptedData,
  file: CertificateFile,
  password: Secret | undefined,
): Promise<Element> {
  const { default: forge } = await import('node-forge');
  // forge's function for private keys decrypts all data with password-based encryption.
  const encrypted = sequence(algorithm, octetString(ciphertext));
  const text = password?.reveal() ?? '';
  try {
    const clear = forge.pki.decryptPrivateKeyInfo(
      forge.asn1.fromDer(Buffer.from(encrypted).toString('latin1')),
      isPbes2 ? forge.util.encodeUtf8(text) : text,
    );
    // null if the padding is wrong, although the type excludes it.
    if (clear) return readElement(Buffer.from(forge.asn1.toDer(clear).getBytes(), 'latin1'), 'PKCS#12 bags');
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    if (/unsupported|cannot read/i.test(problem)) throw unsupported(file, problem, cause);
    // Any other result means a wrong password.
  }
  const code = password === undefined ? 'certificate-password-missing' : 'certificate-password-wrong';
  throw certificateErrors(code, { file: file.name });
}

/** Both kinds of parameters contain (salt, iterations); in PBES2 they are one level deeper. */
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
