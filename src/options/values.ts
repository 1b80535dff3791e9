/** Messages name each value by the option, variable or file from which it comes. */

import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../crypto/algorithms.ts';
import { type HttpProxy, isLoopback } from '../http/proxy.ts';
import { Secret } from '../secrets/secret.ts';
import { settingsErrors } from './errors.ts';
import { suggest } from './suggest.ts';

export interface Given {
  readonly value: string;
  /** For example `--code`, `CODESIGN_CODE`, or `code in profile work`. */
  readonly name: string;
}

/** Below the roots 0 and 1, numbers are at most 39 (X.660): a larger one would encode another identifier. */
const OBJECT_IDENTIFIER = /^([01]\.[1-3]?\d|2\.(0|[1-9]\d{0,9}))(\.(0|[1-9]\d{0,9})){0,29}$/;

export function readText(from: Given): string {
  return from.value === '' ? refuse(from, 'some text') : from.value;
}

/** Also accepts Java's names, such as SHA-256. */
export function readAlgorithm(from: Given): DigestAlgorithm {
  const wanted = from.value.toUpperCase().replace(/^SHA-/, 'SHA');
  return readWord({ ...from, value: wanted }, DIGEST_ALGORITHMS, from);
}

/** Matches a word that is too short to be a secret, for example `MD5`. */
const SHORT_WORD = /^[a-z][a-z\d-]{0,4}$/i;

/** The message shows `typed` only if it cannot be a secret: a short word, or a misspelt form of an accepted one. */
export function readWord<const Word extends string>(from: Given, words: readonly Word[], typed = from): Word {
  const found = words.find((word) => word === from.value);
  if (found !== undefined) return found;
  const isWord = SHORT_WORD.test(typed.value) || suggest(typed.value, words) !== undefined;
  return refuse(typed, `one of ${words.join(', ')}`, isWord ? typed.value : HIDDEN);
}

// OpenSSL and Windows print fingerprints with colons or spaces.
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;

export function readSigner(from: Given): { readonly commonName: string } | { readonly sha256: string } {
  const digits = readText(from).replace(/[:\s]/g, '').toLowerCase();
  // signtool shows SHA-1 fingerprints, which would never match as a name.
  if (SHA1.test(digits)) refuse(from, "a common name, or the certificate's SHA-256");
  return SHA256.test(digits) ? { sha256: digits } : { commonName: from.value };
}

export function readSwitch(from: Given): boolean {
  if (/^(?:true|yes|1)$/i.test(from.value)) return true;
  return /^(?:false|no|0)$/i.test(from.value) ? false : refuse(from, 'true or false');
}

export interface NumberRange {
  readonly isWhole: boolean;
  readonly from: number;
  readonly to: number;
}

export function readNumber(given: Given, { isWhole, from, to }: NumberRange): number {
  const number = /^\d+(\.\d+)?$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (number >= from && number <= to && (!isWhole || Number.isInteger(number))) return number;
  return refuse(given, `a ${isWhole ? 'whole ' : ''}number from ${from} to ${to}`);
}

export function readObjectIdentifier(from: Given): string {
  return OBJECT_IDENTIFIER.test(from.value)
    ? from.value
    : refuse(from, 'an object identifier, such as 1.3.6.1.4.1.99999.1');
}

const HIDDEN = '…';

/** The message hides the value, which may be a secret entered in the wrong place. */
export function refuse({ name, value }: Given, expected: string, shown: string = HIDDEN): never {
  throw settingsErrors('invalid-setting', { name, value: value === '' ? '' : shown, expected });
}

/** Removes slashes at the end. Messages show `name`, never `text`. */
export function parseBaseUrl(text: string, name: string): URL {
  if (!URL.canParse(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it is not a URL' });
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw settingsErrors('base-url-holds-credentials', { name });
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw settingsErrors('base-url-invalid', { name, problem: 'it must begin with https://' });
  }
  // A "?" or "#" with nothing after it does not appear in the parsed address.
  if (/[?#]/.test(text)) throw settingsErrors('base-url-invalid', { name, problem: 'it has a query or a fragment' });
  if (url.protocol === 'http:' && !isLoopback(url)) throw settingsErrors('base-url-insecure', { name, host: url.host });
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** Accepts plain `http:`, which most authorities use. Responses are verified, and nothing secret is sent. */
export function readTimestampUrl({ value, name }: Given): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !isWeb(url)) {
    refuse({ value, name }, 'the address of a timestamp authority, such as http://timestamp.example.com');
  }
  if (url.username !== '' || url.password !== '') throw settingsErrors('timestamp-url-holds-credentials', { name });
  return url;
}

/** The address is in a place that other users can read, so it must contain no credentials. */
export function readProxy(from: Given): HttpProxy {
  const { url, authorization } = readProxyVariable(from);
  if (authorization !== undefined) throw settingsErrors('proxy-holds-credentials', { name: from.name });
  return { url, authorization };
}

/** As in other programs, `host:port` means `http:`. */
export function readProxyVariable({ value, name }: Given): HttpProxy {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url)) throw settingsErrors('proxy-invalid', { name });
  return { url: new URL(url.origin), authorization: authorizationOf(url, name) };
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

function authorizationOf({ username, password }: URL, name: string): Secret | undefined {
  if (username === '' && password === '') return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return new Secret(`Basic ${Buffer.from(pair, 'utf8').toString('base64')}`);
  } catch {
    throw settingsErrors('proxy-invalid', { name });
  }
}
