/** Getting CRLs out of the files they come in: DER, or PEM with any number of them (RFC 7468, section 6). */

import { CodesignError } from '../errors/codesign-error.ts';
import { type Crl, parseCrl } from './crl.ts';

const BEGIN = '-----BEGIN X509 CRL-----';
const END = '-----END X509 CRL-----';
const SEQUENCE = 0x30;

/** The CRLs of one file, or why there are none: for people, no whole sentence. */
export function readCrls(bytes: Uint8Array): readonly Crl[] | string {
  const found = bytes[0] === SEQUENCE ? [bytes] : derInPem(bytes);
  if (found.length === 0) return 'it holds no CRL';
  try {
    return found.map(parseCrl);
  } catch (thrown) {
    if (thrown instanceof CodesignError) return thrown.message;
    throw thrown;
  }
}

/** By searching, not by a pattern: one of 30 MB would be too much for it. */
function derInPem(bytes: Uint8Array): Uint8Array[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const found: Uint8Array[] = [];
  for (let start = text.indexOf(BEGIN); start >= 0; start = text.indexOf(BEGIN, start + 1)) {
    const end = text.indexOf(END, start);
    if (end < 0) break;
    found.push(Buffer.from(text.slice(start + BEGIN.length, end), 'base64'));
  }
  return found;
}
