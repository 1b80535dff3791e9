/** The ways in which a signing service fails its callers, each as what it does with one request. */

import {
  answer,
  changed,
  type Exchange,
  envelope,
  LEFT_OPEN,
  type Misbehaviour,
  page,
  RECORD,
  success,
  unfinished,
  withHeaders,
  withSignature,
} from './answering.ts';
import { STRANGE_ANSWERS } from './strange-answers.ts';

/** Words that are out to do harm on a terminal, in a build service's log, in a spreadsheet and on a page. */
export const HOSTILE =
  "=cmd|' /C calc'!A0 \u001b[2J\u001b]0;owned\u0007\n::error::owned\r\n##[error]owned ::set-output name=a::b \u202egnp.exe\u2066 \u009b31m\u2028 <script>alert(1)</script> | [x](https://evil.example) `@team`";

/** The access secret that the request came with. */
function secretOf({ request }: Exchange): string {
  const token = (request.headers.authorization ?? '').replace('Basic ', '');
  return Buffer.from(token, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}

/** The access secret in encodings that a search for its text does not find. */
function encodedSecrets(exchange: Exchange): readonly string[] {
  const secret = secretOf(exchange);
  const bytes = [...Buffer.from(secret)];
  return [
    Buffer.from(`x${secret}`).toString('base64'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    bytes.map((byte) => `%${byte.toString(16)}`).join(''),
    bytes.map((byte) => `&#${byte};`).join(''),
    bytes.map((byte) => `\\u00${byte.toString(16)}`).join(''),
    Buffer.from(`xy${secret}z`).toString('base64url'),
  ];
}

/** All of these read the whole request first; what fails before that is a mode of the service itself. */
export const MISBEHAVIOURS = {
  ...STRANGE_ANSWERS,

  refused: envelope(200, 1001),
  'parameter-error': envelope(200, 400),
  'quota-as-429-under-200': envelope(200, 429),
  'busy-under-200': envelope(200, 503),
  'large-code': envelope(200, 20_260_000_001),
  'hostile-refusal': envelope(200, 1001, null, HOSTILE),
  'hostile-status': envelope(500, 5001, null, HOSTILE),
  'hostile-redirect': withHeaders(307, () => ({ location: 'https://evil.example/\u009b31m::error::owned' })),
  'hostile-record': (exchange) => {
    const data = { id: HOSTILE, signature: exchange.signature };
    answer(exchange, 200, { code: 0, message: HOSTILE, data });
  },
  'hostile-record-of-nothing': envelope(200, 0, { id: HOSTILE, signature: 'not base64' }, HOSTILE),
  'refused-echoing-authorization': (exchange) => {
    const given = exchange.request.headers.authorization ?? '';
    const plain = Buffer.from(given.replace('Basic ', ''), 'base64').toString();
    answer(exchange, 200, { code: 1001, message: `you sent ${given}, which is ${plain}`, data: null });
  },

  'refused-echoing-encodings': (exchange) =>
    answer(exchange, 200, { code: 1001, message: encodedSecrets(exchange).join(' '), data: null }),
  'signature-the-secret': withSignature((_, exchange) => Buffer.from(secretOf(exchange)).toString('base64')),
  'record-the-secret': withSignature(
    (signature) => signature,
    (exchange) => `r-${encodedSecrets(exchange)[0]}`,
  ),
  'code-a-string': changed((text) => text.replace('"code":0', '"code":"0"')),
  'code-a-fraction': changed((text) => text.replace('"code":0', '"code":0.5')),
  'code-missing': changed((text) => text.replace('"code":0,', '')),
  'message-no-text': changed((text) => text.replace('"ok"', '{"en":"ok"}')),

  'data-null': envelope(200, 0),
  'signature-missing': envelope(200, 0, { id: RECORD }),
  'signature-empty': envelope(200, 0, { id: RECORD, signature: '' }),
  'signature-not-base64': envelope(200, 0, { id: RECORD, signature: 'not base64 at all!' }),
  'signature-wrong': withSignature(
    (signature) => Buffer.from(signature, 'base64').fill(0x11, 1).toString('base64'),
    () => RECORD,
  ),

  html: page(200),
  'empty-body': (exchange) => answer(exchange, 200, ''),
  'no-content': ({ response }) => response.writeHead(204).end(),
  'not-json': (exchange) => answer(exchange, 200, 'OK'),
  'json-array': (exchange) => answer(exchange, 200, [0]),
  'json-cut-short': changed((text) => text.slice(0, -5)),
  'endless-body': async ({ response, pause }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    while (!response.destroyed) {
      response.write('{"code":0,'.repeat(10_000));
      await pause(0);
    }
  },

  redirect: withHeaders(307, () => ({ location: '/elsewhere' })),
  'redirect-302': withHeaders(302, () => ({ location: 'https://user:word@example.com/x\u009b31m' })),
  'server-error': page(500),
  'server-error-envelope': envelope(500, 5001, null, 'the HSM is away'),
  'success-with-status-500': (exchange) => answer(exchange, 500, success(exchange)),
  'not-found': page(404),
  'bad-gateway': page(502),
  'error-cut-short': unfinished(() => 'half', { 'content-length': 1000 }, { status: 500 }),

  'unauthorized-200': envelope(200, 401),
  'unauthorized-401': envelope(401, 401),
  'unauthorized-401-page': page(401),
  'unauthorized-403': envelope(403, 401),
  'unauthorized-503': envelope(503, 401),

  throttled: envelope(429, 429),
  'throttled-for-seconds': withHeaders(429, () => ({ 'retry-after': '7' })),
  'throttled-until-date': withHeaders(429, () => ({ 'retry-after': new Date(Date.now() + 20_000).toUTCString() })),
  'throttled-for-an-hour': withHeaders(429, () => ({ 'retry-after': '3600' })),
  'throttled-for-no-time': withHeaders(429, () => ({ 'retry-after': '0' })),
  'throttled-several-times': ({ response }) => {
    response.setHeader('retry-after', ['7', '9', '0']);
    response.writeHead(429).end();
  },
  unavailable: page(503),
  'unavailable-enveloped': envelope(503, 503),

  'breaks-before-answer': ({ response }) => response.destroy(),
  'breaks-during-head': ({ response }) =>
    response.socket?.write('HTTP/1.1 200 OK\r\nContent-', () => response.destroy()),
  'breaks-during-body': unfinished((exchange) => success(exchange).slice(0, 40), { 'content-length': 400 }),
  'breaks-after-answer': (exchange) => {
    exchange.response.on('finish', () => setImmediate(() => exchange.response.destroy()));
    answer(exchange, 200, success(exchange));
  },
  'answers-not-http': ({ response }) => response.socket?.end('220 smtp.example.com ready\r\n'),
  hangs: () => undefined,
  'hangs-in-body': unfinished((exchange) => success(exchange).slice(0, 40), undefined, LEFT_OPEN),
  'slow-drip': async (exchange) => {
    exchange.response.writeHead(200, { 'content-type': 'application/json' });
    for (const character of success(exchange)) {
      if (exchange.response.destroyed) return;
      exchange.response.write(character);
      await exchange.pause(50);
    }
    exchange.response.end();
  },
  'information-first': (exchange) => {
    exchange.response.writeEarlyHints({ link: '</x>; rel=preload' });
    answer(exchange, 200, success(exchange));
  },
  'base64-for-addresses': withSignature((signature) => Buffer.from(signature, 'base64').toString('base64url')),
  'padding-twice': withSignature((signature) => `${signature}==`),
  'blanks-in-base64': withSignature((signature) => ` ${signature.replace(/.{4}/g, '$& \t\u00a0')}\n`),
  'wrapped-base64': withSignature((signature) => signature.replace(/=+$/, '').replace(/.{76}/g, '$&\r\n')),
  'chunks-without-end': unfinished(success),
  'chunks-without-end-left-open': unfinished(success, undefined, LEFT_OPEN),
  'length-too-long': unfinished(success, { 'content-length': 10_000 }),
} satisfies Record<string, Misbehaviour>;

export type MisbehaviourName = keyof typeof MISBEHAVIOURS;
