import { fingerprintOf } from '../crypto/fingerprint.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { AnswerHead } from '../http/request.ts';
import { readRetryAfter } from '../http/retry.ts';
import type { ForeignText } from '../secrets/foreign-text.ts';
import type { Operation } from './call-record.ts';
import { businessErrors, isOfGateway, statusErrors } from './errors.ts';
import type { Envelope } from './messages.ts';
import type { SignatureRecord } from './signing-service.ts';

/** Makes text from the service printable, and removes credentials from it. */
export type Show = (text: string) => string;

const UNAUTHORIZED = 401;

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** API 2.1. */
export function readEnvelope(body: Uint8Array): Envelope | undefined {
  const { code, message, data } = membersOf(readJson(body));
  if (typeof code !== 'number' || !Number.isInteger(code)) return undefined;
  return { code, message: typeof message === 'string' ? message : undefined, data };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const UTF8 = new TextDecoder();

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(body));
  } catch {
    return undefined;
  }
}

/** True for HTTP 401, and for an envelope with code 401 under any status (API 5.6 and 7). */
export function saysUnauthorized(status: number, envelope: Envelope | undefined): boolean {
  return status === UNAUTHORIZED || envelope?.code === UNAUTHORIZED;
}

export interface Refusal {
  readonly operation: Operation;
  readonly head: AnswerHead;
  readonly envelope: Envelope | undefined;
  readonly attempts: number;
  readonly show: Show;
}

export function statusError({ operation, head, envelope, attempts, show }: Refusal): CodesignError {
  const { status } = head;
  const serviceCode = envelope?.code;
  const message = envelope?.message ? show(envelope.message) : undefined;
  const isUncertain = isOfGateway(status) || isBare503(head, envelope);
  const details = { operation, status, attempts, serviceCode, message, isUncertain };
  const context = { httpStatus: status, serviceCode };
  if (saysUnauthorized(status, envelope)) return statusErrors('unauthorized', details, context);
  if (status === 429) return statusErrors('throttled', details, context);
  if (status >= 300 && status <= 399) {
    const location = head.headers.get('location');
    return statusErrors('redirected', { ...details, location: location && show(location) }, context);
  }
  return statusErrors('http-error', details, { ...context, mayHaveBeenCounted: operation === 'sign' && isUncertain });
}

/** A gateway may send such a response even after the service has made a signature. */
export function isBare503({ status, headers }: AnswerHead, envelope: Envelope | undefined): boolean {
  if (status !== 503 || envelope !== undefined) return false;
  return readRetryAfter(headers.get('retry-after'), 0) === undefined;
}

/** Reads a response with status 2xx (rule 4.1.1). `record` reads the id of a record in the response. */
export function readData(
  { operation, head, envelope, show }: Refusal,
  body: Uint8Array,
  record: () => string | undefined,
): Envelope['data'] {
  const httpStatus = head.status;
  if (envelope === undefined) {
    const why = describeBody(head, body);
    const id = record();
    throw businessErrors('malformed-answer', { operation, why, record: id }, { httpStatus, record: id });
  }
  const serviceCode = envelope.code;
  if (serviceCode === 0) return envelope.data;
  const details = { operation, serviceCode, message: envelope.message ? show(envelope.message) : undefined };
  const code = saysUnauthorized(httpStatus, envelope) ? 'unauthorized' : 'refused';
  throw businessErrors(code, details, { httpStatus, serviceCode });
}

export function findRecordId(part: Uint8Array): string | undefined {
  const text = UTF8.decode(part);
  const [, id] = /"id"\s*:\s*("(?:[^"\\]|\\.)+")/.exec(text) ?? [];
  const found = id !== undefined && /"code"\s*:\s*0\s*,/.test(text) ? readJson(Buffer.from(id)) : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function holdsSignature(data: unknown): boolean {
  const { signature } = membersOf(data);
  return typeof signature === 'string' && decodeBase64(signature) !== undefined;
}

/**
 * Reads the `data` of a success (API 2.4). An id that is not text is treated as missing, because the signature can still
 * be used. `storable` prepares an id for storage and display.
 */
export function readSignatureRecord(
  data: unknown,
  httpStatus: number,
  storable: (id: string) => string,
): SignatureRecord {
  const context = { httpStatus, serviceCode: 0 };
  const { id: given, signature } = membersOf(data);
  if (typeof signature !== 'string')
    throw businessErrors('no-signature', { why: 'data.signature is missing' }, context);
  const id = typeof given === 'string' && given !== '' ? storable(given) : undefined;
  if (signature.trim() === '') throw businessErrors('no-signature', { why: 'data.signature is empty' }, context);
  const bytes = decodeBase64(signature);
  if (bytes === undefined) throw businessErrors('signature-unreadable', {}, { ...context, record: id });
  return { id, signature: bytes };
}

/**
 * Decodes Base64 (RFC 4648, sections 4 and 5) with any white space and padding, because the signature has been paid for
 * and is checked later. Returns undefined for other text, in which Buffer would skip invalid characters.
 */
function decodeBase64(text: string): Uint8Array | undefined {
  const digits = text.replace(/\s/g, '').replace(/=+$/, '');
  if (digits === '' || !/^[A-Za-z0-9+/_-]+$/.test(digits) || digits.length % 4 === 1) return undefined;
  return Uint8Array.from(Buffer.from(digits, 'base64'));
}

function describeBody({ headers }: AnswerHead, body: Uint8Array): string {
  if (body.length === 0) return 'it is empty';
  // Compressed bodies are not decoded, because a few bytes could expand without limit.
  if (/\S/.test(headers.get('content-encoding')?.replace(/identity/gi, '') ?? '')) return 'it is compressed';
  const text = UTF8.decode(body.subarray(0, 512)).trimStart();
  if (/^<(!doctype html|html|head|body)/i.test(text)) return 'it is a web page';
  if (!/^[[{]/.test(text)) return 'it is not JSON';
  return readJson(body) === undefined
    ? 'its JSON is cut short or damaged'
    : 'it is not an envelope with an integer code';
}

const LONGEST = 256;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;
/** Ids such as hexadecimal digits, Base64 or UUIDs may be longer than words. */
const USUAL_ID = /^[\w.:~+/=@-]*$/;
const DIGEST = /^sha256:[0-9a-f]{64} \(the id is not stored: [^()]*\)$/;

/** Returns the id itself if it is short, printable and contains no secret, and otherwise a digest of it with a note. */
export function storableRecord(id: string, secrets: ForeignText): string {
  const problem = problemOf(id, secrets);
  if (problem === undefined) return id;
  // An attacker could guess a secret with its digest, so the secret is masked before.
  const digest = fingerprintOf(secrets.mask(id));
  return `sha256:${digest} (the id is not stored: ${problem})`;
}

function problemOf(id: string, secrets: ForeignText): string | undefined {
  const length = [...id].length;
  if (length > LONGEST) return `it has ${length} characters`;
  if (UNPRINTABLE.test(id)) return 'it has unprintable characters';
  if (secrets.holdsSecret(id)) return 'it holds a credential';
  if (!USUAL_ID.test(id) && secrets.show(id) !== id.normalize('NFC')) return 'it may hold a credential';
  return DIGEST.test(id) ? 'it looks like a digest of another id' : undefined;
}

/** False if a stored record id is a digest of the id from the service. */
export function isServiceId(record: string): boolean {
  return !DIGEST.test(record);
}
