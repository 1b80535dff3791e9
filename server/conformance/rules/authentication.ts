/**
 * Section 5: HTTP Basic authentication for both operations. Any fault in the Authorization header gets error code
 * 401.
 */

import { describeAnswer, isRefusedWith } from '../check-answer.ts';
import {
  type Answer,
  basic,
  type Call,
  type Credentials,
  type Deployment,
  encoded,
  REPORT,
  SIGN,
} from '../deployment.ts';
import { broken, chosen, each, KEPT, type Rule, unsigned, type Verdict } from '../rule.ts';

type Header = (credentials: Credentials) => string | null | readonly string[];

/**
 * Wrong Authorization headers, made from the correct credentials. The secret is never in the position of the access
 * key, which a service may log.
 */
const BAD_HEADERS: Readonly<Record<string, Header>> = {
  'no Authorization header': () => null,
  'an empty Authorization header': () => '',
  'the Basic scheme but no credentials': () => 'Basic',
  'the Bearer scheme': ({ accessKey, accessSecret }) => `Bearer ${encoded(`${accessKey}:${accessSecret}`)}`,
  'the Digest scheme': ({ accessKey }) => `Digest username=${JSON.stringify(accessKey)}`,
  'credentials but no scheme': ({ accessKey, accessSecret }) => encoded(`${accessKey}:${accessSecret}`),
  'credentials that are not encoded in Base64': ({ accessKey, accessSecret }) => `Basic ${accessKey}:${accessSecret}`,
  'credentials that contain no colon': ({ accessKey }) => `Basic ${encoded(accessKey)}`,
  'extra text after the credentials': (right) => `${basic(right)} x`,
  'an empty access key': ({ accessSecret }) => `Basic ${encoded(`:${accessSecret}`)}`,
  'an empty access secret': ({ accessKey }) => `Basic ${encoded(`${accessKey}:`)}`,
  'a wrong access key': ({ accessSecret }) => `Basic ${encoded(`conformance-nobody:${accessSecret}`)}`,
  'a wrong access secret': ({ accessKey }) => `Basic ${encoded(`${accessKey}:conformance-wrong`)}`,
  'one extra character in the access secret': ({ accessKey, accessSecret }) =>
    `Basic ${encoded(`${accessKey}:${accessSecret}x`)}`,
  'one character missing from the access secret': ({ accessKey, accessSecret }) =>
    `Basic ${encoded(`${accessKey}:${accessSecret.slice(0, -1)}`)}`,
  'upper and lower case swapped in the access secret': ({ accessKey, accessSecret }) =>
    `Basic ${encoded(`${accessKey}:${otherCase(accessSecret)}`)}`,
  'credentials that are not valid UTF-8': () => `Basic ${Buffer.from([0xff, 0xfe, 0x3a, 0xff]).toString('base64')}`,
};

/** Variants of the header that RFC 7617 allows, or that a lenient parser may accept. */
const PECULIAR_HEADERS: Readonly<Record<string, Header>> = {
  'several spaces after the scheme': (right) => basic(right).replace(' ', '   '),
  'credentials whose Base64 has missing or extra padding': (right) =>
    basic(right).endsWith('=') ? basic(right).replace(/=+$/, '') : `${basic(right)}=`,
  'credentials whose Base64 contains a character outside its alphabet': (right) =>
    basic(right).replace(/^(.{10})/, '$1!'),
  'two Authorization headers, the correct one first': (right) => [
    basic(right),
    `Basic ${encoded('conformance-nobody:wrong')}`,
  ],
  'two Authorization headers, the correct one last': (right) => [
    `Basic ${encoded('conformance-nobody:wrong')}`,
    basic(right),
  ],
};

function otherCase(text: string): string {
  const changed = text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
  return changed === text ? `${text}x` : changed;
}

/** Calls an operation with a request that the service rejects for another reason if it accepts the credentials. */
async function callBy(deployment: Deployment, operation: string, call: Call): Promise<Answer> {
  const unknown = { id: 'conformance-no-such-record', status: 1 };
  return deployment.call(operation, { ...call, body: operation === SIGN ? await deployment.strangersBody() : unknown });
}

const OPERATIONS = [
  ['sign', SIGN],
  ['report-sign', REPORT],
] as const;

const refusalsOf = ([name, operation]: (typeof OPERATIONS)[number]): readonly Rule[] =>
  Object.entries(BAD_HEADERS).map(([title, header]) =>
    unsigned('5 rule 6', `a \`${name}\` request with ${title} gets error code 401`, async (deployment) => {
      const authorization = header(deployment.options.credentials);
      return isRefusedWith(401, await callBy(deployment, operation, { authorization }));
    }),
  );

const peculiarRule = ([title, header]: [string, Header]): Rule =>
  unsigned('5 rule 3', `how the service treats ${title}`, async (deployment) => {
    const authorization = header(deployment.options.credentials);
    const answer = await callBy(deployment, SIGN, { authorization });
    if (answer.code === 401) return chosen(`rejected: ${describeAnswer(answer)}`);
    return chosen(answer.code === 400 || answer.signature !== undefined ? 'accepted' : describeAnswer(answer));
  });

const accepted = (answer: Answer): Verdict =>
  answer.code === 401 || answer.status === 401
    ? broken(`${describeAnswer(answer)} for the right credentials`, answer)
    : KEPT;

export const AUTHENTICATION_RULES: readonly Rule[] = [
  unsigned('5 rule 1', 'both operations accept valid credentials', async (deployment) =>
    each(OPERATIONS, async ([, operation]) =>
      accepted(await deployment.call(operation, { body: operation === SIGN ? deployment.refusedBody() : {} })),
    ),
  ),
  ...OPERATIONS.flatMap(refusalsOf),
  unsigned(
    '5 rule 1',
    'the service accepts the scheme name Basic in any letter case (RFC 7617, section 2)',
    async (deployment) =>
      each(['basic', 'BASIC', 'bAsIc'], async (scheme) => {
        const authorization = basic(deployment.options.credentials).replace('Basic', scheme);
        return accepted(await deployment.sign(deployment.refusedBody(), { authorization }));
      }),
  ),
  ...Object.entries(PECULIAR_HEADERS).map(peculiarRule),
  unsigned(
    '5 rule 6',
    'a response with HTTP 401 has a WWW-Authenticate header for the Basic scheme (RFC 9110, section 11.6.1)',
    async (deployment) =>
      each(OPERATIONS, async ([, operation]) => {
        const answer = await callBy(deployment, operation, { authorization: null });
        if (answer.status !== 401) return KEPT;
        const named = /(^|,)\s*basic\b/i.test(answer.header('www-authenticate') ?? '');
        return named ? KEPT : broken('HTTP 401 without a challenge', answer);
      }),
  ),
  unsigned('5 rule 6', 'which HTTP status a response with code 401 has', async (deployment) => {
    const answers: Answer[] = [];
    for (const [, operation] of OPERATIONS) answers.push(await callBy(deployment, operation, { authorization: null }));
    return chosen(OPERATIONS.map(([name], index) => `${name}: HTTP ${answers[index]?.status}`).join(', '));
  }),
  unsigned('7', 'whether credentials or parameters are checked first', async (deployment) => {
    const { code } = await deployment.sign(deployment.refusedBody(), { authorization: null });
    return chosen(code === 401 ? 'credentials' : `code ${code} if both are wrong`);
  }),
  unsigned('5 rule 4', 'no response contains the access secret or the Authorization header', async (deployment) => {
    const { accessSecret } = deployment.options.credentials;
    const token = basic(deployment.options.credentials).slice('Basic '.length);
    const asked = [
      () => deployment.sign(deployment.refusedBody()),
      () => deployment.sign('{'),
      () => deployment.report({ id: '', status: 0 }),
      () => deployment.call('/v1/codesign/conformance-unknown', { body: {} }),
      () => deployment.sign(deployment.refusedBody(), { authorization: `${basic(deployment.options.credentials)} x` }),
    ];
    return each(asked, async (ask) => {
      const answer = await ask();
      const all = [answer.text, ...answer.headers.flat()].join('\n');
      return all.includes(accessSecret) || all.includes(token) ? broken('a response does', answer) : KEPT;
    });
  }),
];
