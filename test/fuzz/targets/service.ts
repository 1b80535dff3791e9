/** The signing service's answers, status and headers among them, as the client takes them. */

import type { Http } from '../../../src/http/http.ts';
import type { Outcome } from '../../../src/http/request.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createSigningService } from '../../../src/service/client.ts';
import { answering, Fault, require } from '../check-case.ts';
import { mutateJson, mutateValue, ODD_TEXTS } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

const SECRET = 'a-secret-that-nobody-may-see';
const BODIES: readonly unknown[] = [
  { code: 0, message: 'ok', data: { id: 'record-1', signature: 'A'.repeat(344) } },
  { code: 0, message: null, data: { id: null, signature: `${'QUJD'.repeat(10)}QQ==` } },
  { code: 400, message: `no: ${SECRET}` },
  { code: 401, message: 'unauthorized', data: null },
];
const HEADERS: readonly (readonly [string, string])[] = [
  ['retry-after', '1'],
  ['retry-after', 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ['retry-after', '9'.repeat(400)],
  ['retry-after', '-1'],
  ['retry-after', '1.5'],
  ['retry-after', 'Wed, 99 Oct 9999999 07:28:00 GMT'],
  ['location', `https://user:${SECRET}@example.com/\u001b[0m`],
  ['location', '//@'],
];
const STATUSES = [200, 201, 204, 299, 300, 302, 399, 400, 401, 404, 429, 429, 500, 502, 503, 503, 504, 599, 999, 0, -1];
const REASONS = ['timed-out', 'broken', 'too-large', 'unreachable', 'tls-untrusted', 'tls-failed', 'connect-timed-out'];
/** Between the attempts of one call, in milliseconds: no wait is longer, whatever is requested. */
const LONGEST_WAIT = 61_000;

interface Exchange {
  readonly operation: 'sign' | 'report-sign';
  /** Base64 of the body; a failure without it. */
  readonly outcomes: readonly {
    readonly status: number;
    readonly headers: unknown;
    readonly body?: string;
    readonly reason?: string;
  }[];
}

export const serviceTarget: TargetDefinition = {
  share: 20_000,
  open: async () => ({
    make(random) {
      const outcomes = Array.from({ length: 1 + random(3) }, () => makeOutcome(random));
      const operation = once(random, 3) ? 'report-sign' : 'sign';
      return Buffer.from(JSON.stringify({ operation, outcomes }));
    },
    run: (input) => ask(JSON.parse(Buffer.from(input).toString()) as Exchange),
  }),
};

function makeOutcome(random: Random): Exchange['outcomes'][number] {
  const status = once(random, 2) ? 200 : pick(random, STATUSES);
  const [name, value] = pick(random, HEADERS);
  const headers = { [name]: once(random, 4) ? pick(random, ODD_TEXTS) : value };
  if (once(random, 6)) return { status, headers, reason: pick(random, REASONS) };
  const body = mutateJson(once(random, 4) ? mutateValue(pick(random, BODIES), random) : pick(random, BODIES), random);
  return { status, headers, body: body.toString('base64') };
}

async function ask({ operation, outcomes }: Exchange): Promise<string> {
  const waits: number[] = [];
  let calls = 0;
  const http: Pick<Http, 'postJson' | 'prepare'> = {
    prepare: () => undefined,
    async postJson() {
      const outcome = outcomes[calls % outcomes.length];
      calls += 1;
      require(calls <= 5, 'more than five attempts');
      if (outcome === undefined) throw new Fault('nothing to answer');
      return toOutcome(outcome);
    },
  };
  const service = createSigningService({
    baseUrl: new URL('https://example.com/a'),
    credentials: { accessKey: 'key', accessSecret: new Secret(SECRET) },
    http: http as Http,
    timeoutMilliseconds: 1000,
    clock: {
      now: () => Date.UTC(2026, 9, 21),
      random: () => 0.5,
      sleep: async (milliseconds) => void waits.push(milliseconds),
    },
  });
  const answer = await answering<unknown>(async () => {
    if (operation === 'report-sign') return service.report('record-1', 1);
    return service.sign({ code: 'C-1', digest: new Uint8Array(32), algorithm: 'SHA256', extra: undefined });
  });
  for (const wait of waits) require(wait >= 0 && wait <= LONGEST_WAIT, `a wait of ${wait} ms`);
  if ('code' in answer) {
    const { message, hint = '' } = answer.error;
    require(!`${message} ${hint}`.includes(SECRET), 'the secret is in the error');
    require(!/\p{Cc}/u.test(message), 'a control character is in the error');
    return answer.code;
  }
  const signed = answer.value as { signature: Uint8Array } | undefined;
  if (operation === 'sign') require((signed?.signature.length ?? 0) > 0, 'a success without a signature');
  return 'good';
}

function toOutcome({ status, headers, body, reason }: Exchange['outcomes'][number]): Outcome {
  const head = { status, headers: new Map(Object.entries(headers as Readonly<Record<string, string>>)) };
  if (reason === undefined) return { kind: 'answer', ...head, body: Buffer.from(body ?? '', 'base64') };
  const mayHaveArrived = !reason.startsWith('tls') && reason !== 'unreachable';
  return {
    kind: 'failure',
    reason: reason as 'broken',
    mayHaveArrived,
    head: reason === 'too-large' || reason === 'broken' ? head : undefined,
    detail: `said ${SECRET}`,
  };
}
