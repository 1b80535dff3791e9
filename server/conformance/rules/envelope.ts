/** Sections 2.1 and 7: every response is an envelope. */

import { describeAnswer, isRefused } from '../check-answer.ts';
import { type Answer, type Deployment, REPORT, SIGN, withSignature } from '../deployment.ts';
import { envelopeFault } from '../envelope.ts';
import { broken, chosen, each, KEPT, type Rule, shared, unsigned, type Verdict } from '../rule.ts';

const UNKNOWN = '/v1/codesign/conformance-unknown';

function isEnvelope(answer: Answer): Verdict {
  const fault = envelopeFault(answer);
  return fault === undefined ? KEPT : broken(fault, answer);
}

/** The documented errors have `data` null. */
function isBareEnvelope(answer: Answer): Verdict {
  const envelope = isEnvelope(answer);
  if (envelope.kind === 'broken' || answer.data === null) return envelope;
  return broken('data is not null', answer);
}

/** Calls that no deployment can sign, by the end of their title. */
const REFUSED: Readonly<Record<string, (deployment: Deployment) => Promise<Answer>>> = {
  'a request body that is not JSON': (deployment) => deployment.sign('{'),
  'a request body that is empty': (deployment) => deployment.sign(''),
  'a request without a body': (deployment) => deployment.call(SIGN),
  'a request body that is null': (deployment) => deployment.sign('null'),
  'a request body that is an array': (deployment) => deployment.sign('[]'),
  'a request body that is a string': (deployment) => deployment.sign('"code"'),
  'a request body with two JSON objects': (deployment) =>
    deployment.sign(JSON.stringify(deployment.refusedBody()).repeat(2)),
  'a report whose body is not JSON': (deployment) => deployment.report('{'),
  'a report whose body is an array': (deployment) => deployment.report('[]'),
  'a request for an unknown path under /v1/': (deployment) =>
    deployment.call(UNKNOWN, { body: deployment.refusedBody() }),
  'a request for a path of another API version': (deployment) =>
    deployment.call('/v2/codesign/sign', { body: deployment.refusedBody() }),
  'a request for a path without an API version': (deployment) =>
    deployment.call('/codesign/sign', { body: deployment.refusedBody() }),
  ...Object.fromEntries(
    ['GET', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
      [SIGN, REPORT].map((path) => [
        `${method} ${path}`,
        (deployment: Deployment) =>
          deployment.call(path, { method, ...(method.startsWith('P') ? { body: deployment.refusedBody() } : {}) }),
      ]),
    ),
  ),
};

/** Section 9 puts the version in the path, and section 4 requires POST. */
const sectionOf = (title: string): string => {
  if (/^[A-Z]{3,} /.test(title)) return '4';
  return title.startsWith('a request for a path') ? '9' : '2.1';
};

export const ENVELOPE_RULES: readonly Rule[] = [
  shared(
    '2.1',
    'the response with a signature is a JSON envelope: `code` is an integer, `message` a string and `data` an object',
    async (deployment) => isEnvelope(withSignature((await deployment.signed()).answer)),
  ),
  shared('2.1', 'the response to a report is a JSON envelope', async (deployment) =>
    isEnvelope(await deployment.report({ id: await deployment.recordId(), status: 1 })),
  ),
  unsigned('7', 'the response to an authentication failure is a JSON envelope whose `data` is null', (deployment) =>
    each([SIGN, REPORT], async (operation) => {
      const body = operation === SIGN ? deployment.refusedBody() : { id: 'x', status: 1 };
      return isBareEnvelope(await deployment.call(operation, { authorization: null, body }));
    }),
  ),
  unsigned('7', 'the response to a parameter error is a JSON envelope whose `data` is null', async (deployment) =>
    isBareEnvelope(await deployment.sign(deployment.refusedBody())),
  ),
  ...Object.entries(REFUSED).flatMap(([title, ask]) => [
    unsigned(sectionOf(title), `the response to ${title} is a JSON envelope`, async (deployment) =>
      isEnvelope(await ask(deployment)),
    ),
    unsigned(sectionOf(title), `the service rejects ${title}`, async (deployment) => {
      const answer = await ask(deployment);
      const refusal = isRefused(answer);
      return refusal.kind === 'broken' ? refusal : chosen(describeAnswer(answer));
    }),
  ]),
  unsigned('7', 'which HTTP status a response with code 400 has', async (deployment) =>
    chosen(`HTTP ${(await deployment.sign(deployment.refusedBody())).status}`),
  ),
  unsigned('2.1', 'which content type the responses have', async (deployment) =>
    chosen((await deployment.sign(deployment.refusedBody())).header('content-type') ?? 'none'),
  ),
];
