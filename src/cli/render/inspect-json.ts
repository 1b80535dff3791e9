/** The JSON document of `inspect --json`: what the text has, bytes in hexadecimal, what is not there as null. */

import type { Detail } from '../../formats/format.ts';
import type { InspectedCertificate } from '../../verifying/inspect-certificates.ts';
import type { InspectedFile, InspectedSignature } from '../../verifying/inspect-file.ts';

export function inspectJson(file: InspectedFile): object {
  return plain({
    ...file,
    layout: detailsJson(file.layout),
    signatures: file.signatures.map(signatureJson),
  }) as object;
}

function signatureJson(signature: InspectedSignature): object {
  return {
    ...signature,
    details: detailsJson(signature.details),
    certificates: signature.certificates.map(certificateJson),
    timestamps: signature.timestamps.map((timestamp) => ({
      ...timestamp,
      certificates: timestamp.certificates.map(certificateJson),
    })),
    nested: signature.nested.map(signatureJson),
  };
}

/** Without the certificate itself: `--certificates` gives that. */
function certificateJson({ der: _, ...told }: InspectedCertificate): object {
  return told;
}

/** A member for each: `content digest` is `contentDigest`. Of two of one name the second is `…2`. */
function detailsJson(details: readonly Detail[]): object {
  const members = new Map<string, string>();
  for (const { name, value } of details) {
    const member = name
      .split(/[^A-Za-z\d]+/)
      .filter((word) => word !== '')
      .map((word, index) => (index === 0 ? lowerCased(word) : word.charAt(0).toUpperCase() + word.slice(1)))
      .join('');
    let distinct = member;
    for (let count = 2; members.has(distinct); count += 1) distinct = `${member}${count}`;
    members.set(distinct, value);
  }
  return Object.fromEntries(members);
}

/** `CMS` is `cms`, `URL` is `url`. */
function lowerCased(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1);
}

/** Dates, bytes and what is undefined in the forms that JSON has. */
function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
