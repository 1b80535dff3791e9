/** Section 7: the four checks of a `sign` request, and their order. */

import { DIGEST_ALGORITHMS, DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { isRefusedWith, isSignedOrRefused } from '../check-answer.ts';
import { type Answer, type Body, encoded } from '../deployment.ts';
import { broken, each, KEPT, type Rule, spending, unsigned } from '../rule.ts';

/** Changes a valid request; an undefined value removes the field. */
type Change = (good: Body) => Body;

const refused = (section: string, title: string, change: Change, spends = 0): Rule =>
  spending(section, `${title} gets error code 400`, spends, async (deployment) =>
    isRefusedWith(400, await deployment.sign(change(deployment.body()))),
  );

const bytes = (length: number) => Buffer.alloc(length, 0xa5).toString('base64');

/**
 * Rows: end of the title, value or how it is made from a valid request, and whether a deployment might correct the value
 * and sign.
 */
const fieldRules = (
  section: string,
  name: string,
  rows: readonly (readonly [title: string, value: unknown, reparable?: boolean])[],
): readonly Rule[] =>
  rows.map(([title, value, reparable = false]) =>
    refused(
      section,
      `a request whose \`${name}\` field ${title}`,
      (good) => ({ ...good, [name]: typeof value === 'function' ? value(good) : value }),
      reparable ? 1 : 0,
    ),
  );

const CODE_RULES = fieldRules('7 check 1', 'code', [
  ['identifies no certificate', 'conformance-no-such-certificate'],
  ['is an empty string', ''],
  ['is missing', undefined],
  ['is null', null],
  ['is the boolean true', true],
  ['is an object', {}],
  ['is a number', ({ code }: Body) => Number(code) || 1, true],
  ['is an array', ({ code }: Body) => [code], true],
  ['contains text after the certificate number', ({ code }: Body) => `${code}.x`],
]);

/** These bytes encode to both characters in which the two Base64 alphabets differ. */
const WITH_BOTH = Buffer.alloc(32, 0xfb).fill(0xff, 16).toString('base64');
const HEXADECIMAL = 'a5'.repeat(32);

const DIGEST_RULES: readonly Rule[] = [
  ...fieldRules('7 check 2', 'digest', [
    ['is not Base64', '!"$%&/()=?'],
    ['is an empty string', ''],
    ['is missing', undefined],
    ['is null', null],
    ['is a number', 1234],
    ['is an object', {}],
    ['is an array', [bytes(32)], true],
    ['contains a character outside the Base64 alphabet', `${bytes(32).slice(0, 20)}!${bytes(32).slice(20)}`, true],
    ['contains a space', `${bytes(32).slice(0, 20)} ${bytes(32).slice(20)}`, true],
    ['contains a line break', `${bytes(32).slice(0, 20)}\n${bytes(32).slice(20)}`, true],
    ['begins with a space', ` ${bytes(32)}`, true],
    ['ends with a line break', `${bytes(32)}\n`, true],
    ['lacks the padding', bytes(32).replace(/=+$/, ''), true],
    ['uses the URL-safe alphabet', WITH_BOTH.replaceAll('+', '-').replaceAll('/', '_'), true],
    ['has padding in the middle', `${bytes(32).slice(0, 20)}=${bytes(32).slice(20)}`, true],
  ]),
  ...fieldRules('2.2', 'digest', [
    ['is hexadecimal text', HEXADECIMAL, true],
    ['is hexadecimal text encoded in Base64', encoded(HEXADECIMAL), true],
  ]),
  // RFC 4648 lets decoders take these (3.3 and 3.5).
  ...[
    ['with too much padding', `${bytes(32)}=`],
    [
      'with unused Base64 bits that are not zero',
      bytes(32).replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`),
    ],
  ].map(([title, digest]) =>
    spending('7 check 2', `how the service treats a digest ${title}`, 1, async (deployment) =>
      isSignedOrRefused(await deployment.sign({ ...deployment.body(), digest })),
    ),
  ),
];

const wrongLengths = (algorithm: DigestAlgorithm): readonly number[] => {
  const right = DIGEST_LENGTH[algorithm];
  const others = DIGEST_ALGORITHMS.map((name) => DIGEST_LENGTH[name]).filter((length) => length !== right);
  return [...new Set([...others, right - 1, right + 1, 1, 2 * right])].sort((a, b) => a - b);
};

const listed = (lengths: readonly number[]) => lengths.join(', ').replace(/, (\d+)$/, ' or $1');

const ALGORITHM_RULES: readonly Rule[] = [
  ...DIGEST_ALGORITHMS.map((algorithm) => {
    const lengths = wrongLengths(algorithm);
    const title = `a ${algorithm} request whose digest is ${listed(lengths)} bytes long gets error code 400`;
    return unsigned('7 check 3', title, (deployment) =>
      each(lengths, async (length) =>
        isRefusedWith(400, await deployment.sign({ ...deployment.body(algorithm), digest: bytes(length) })),
      ),
    );
  }),
  ...fieldRules('7 check 3', 'algorithm', [
    ['has an unknown value', 'CONFORMANCE'],
    ['is a number', 256],
    ['is an object', {}],
    ['is missing', undefined, true],
    ['is null', null, true],
    ['is an empty string', '', true],
    ['is in lower case', 'sha256', true],
    ['contains a hyphen', 'SHA-256', true],
    ['ends with a space', 'SHA256 ', true],
    ['is an array', ['SHA256'], true],
    ['is SHA3-256', 'SHA3-256', true],
  ]),
  refused('9', 'a request for MD5 with an MD5 digest', (good) => ({ ...good, algorithm: 'MD5', digest: bytes(16) }), 1),
  refused(
    '9',
    'a request for SHA224 with a SHA224 digest',
    (good) => ({ ...good, algorithm: 'SHA224', digest: bytes(28) }),
    1,
  ),
];

const PADDING_RULES = fieldRules('7 check 4', 'padding', [
  ['has an unknown value', 'CONFORMANCE'],
  ['is a number', 1],
  ['is an object', {}],
  ['is the boolean true', true],
  ['is missing', undefined, true],
  ['is null', null, true],
  ['is an empty string', '', true],
  ['is in lower case', 'pkcs1', true],
  ['ends with a space', 'PKCS1 ', true],
  ['is an array', ['PKCS1'], true],
  ['is PSS', 'PSS', true],
  ['is OAEP', 'OAEP', true],
  ['is `NONE`', 'NONE', true],
]);

/** One value for each check that only this check rejects, and that no deployment could repair. */
const WRONG: readonly Body[] = [
  { code: 'conformance-no-such-certificate' },
  { digest: '!"$%&/()=?' },
  { algorithm: 'CONFORMANCE' },
  { padding: 'CONFORMANCE' },
];
const NAMES = ['code', 'digest', 'algorithm', 'padding'] as const;

/**
 * All four checks return code 400, so only different messages show the order. The rule is broken only if a request with
 * two faults gets the message of the later check.
 */
const orderRule = (first: number, second: number): Rule =>
  unsigned('7 checks', `the service checks \`${NAMES[first]}\` before \`${NAMES[second]}\``, async (deployment) => {
    const answers: Answer[] = [];
    for (const wrong of [{ ...WRONG[first], ...WRONG[second] }, { ...WRONG[first] }, { ...WRONG[second] }]) {
      answers.push(await deployment.sign({ ...deployment.body(), ...wrong }));
    }
    const [both, one, other] = answers;
    if (both === undefined || one === undefined || other === undefined) return KEPT;
    const refusal = isRefusedWith(400, both);
    if (refusal.kind === 'broken') return refusal;
    const tellsApart = one.code === 400 && other.code === 400 && one.message !== other.message;
    return tellsApart && both.message === other.message
      ? broken(`if both are wrong, the message is that of ${NAMES[second]} alone`, both, one, other)
      : KEPT;
  });

/** Every pair, the earlier check first. */
const PAIRS = NAMES.flatMap((_, first) =>
  NAMES.flatMap((__, second) => (first < second ? [[first, second] as const] : [])),
);

export const PARAMETER_RULES: readonly Rule[] = [
  ...CODE_RULES,
  ...DIGEST_RULES,
  ...ALGORITHM_RULES,
  ...PADDING_RULES,
  ...PAIRS.map(([first, second]) => orderRule(first, second)),
  unsigned('7 checks', 'a request with four wrong parameters gets error code 400', async (deployment) =>
    isRefusedWith(400, await deployment.sign({ code: '', digest: '!', algorithm: '', padding: '' })),
  ),
  unsigned('7 checks', 'a request whose body is an empty object gets error code 400', async (deployment) =>
    isRefusedWith(400, await deployment.sign({})),
  ),
];
