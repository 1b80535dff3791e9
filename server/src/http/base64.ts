/** Strict Base64 (RFC 4648, section 4): standard alphabet, padded, canonical, nothing around it. */

/** The bytes, or undefined where the text is not the one encoding of any bytes. */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what it does not know; only the canonical text comes back from its own bytes.
  return bytes.toString('base64') === text ? bytes : undefined;
}
