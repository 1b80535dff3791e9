/** Getting CRLs out of the files they come in: DER, or PEM with any number of them (RFC 7468, section 6). */

import { CodesignError } from '../errors/codesign-error.ts';
import { type Crl, parseCrl } from './crl.ts';

const BEGIN = '-----BEGIN X509 CRL-----';
const END = '-----END X509 CRL-----';
const SEQUENCE = 0x30;

/** Of one file: real bundles have a few hundred, of all authorities there are. */
const MAX_CRLS = 1000;

/** The CRLs of one file, or why there are none: for people, no whole sentence. */
export function readCrls(bytes: Uint8Array): readonly Crl[] | string {
  const found: Crl[] = [];
  try {
    for (const der of bytes[0] === SEQUENCE ? [bytes] : derInPem(bytes)) {
      if (found.length === MAX_CRLS) return `it holds more than ${MAX_CRLS} CRLs`;
      found.push(parseCrl(der));
    }
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown.message;
    throw thrown;
  }
  return found.length === 0 ? 'it holds no CRL' : found;
}

/** By searching, each byte once, not by a pattern: a CRL of 30 MB would be too much for it. */
function* derInPem(bytes: Uint8Array): Generator<Uint8Array> {
  const pem = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let position = 0; ; ) {
    const start = pem.indexOf(BEGIN, position);
    const end = start < 0 ? -1 : pem.indexOf(END, start);
    if (end < 0) return;
    yield Buffer.from(pem.toString('latin1', start + BEGIN.length, end), 'base64');
    position = end + END.length;
  }
}
