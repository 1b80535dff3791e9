/** Reads the envelope of a response (2.1), and finds faults in it. */

export interface Envelope {
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown;
  /** undefined if it is not an integer. */
  readonly code: number | undefined;
  readonly message: unknown;
  readonly data: unknown;
}

export function readEnvelope(body: string): Envelope {
  const json = parse(body);
  const { code, message, data } = isObject(json) ? json : {};
  return { json, code: Number.isInteger(code) ? (code as number) : undefined, message, data };
}

/** Describes how the envelope differs from section 2.1; undefined if it does not. */
export function envelopeFault({ json, code, message, data }: Envelope): string | undefined {
  if (json === undefined) return 'the body is not JSON';
  if (!isObject(json)) return 'the body is not a JSON object';
  if (code === undefined) return `code is ${'code' in json ? `not an integer but ${kind(json.code)}` : 'missing'}`;
  if (typeof message !== 'string')
    return `message is ${'message' in json ? `no string but ${kind(message)}` : 'missing'}`;
  if (!('data' in json)) return 'data is missing';
  if (data !== null && !isObject(data)) return `data is neither an object nor null but ${kind(data)}`;
  return undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Strict Base64 (RFC 4648, section 4). */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
