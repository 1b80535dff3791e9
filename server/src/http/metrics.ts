import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isDisabled, quotasOf } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { printable } from '../text.ts';
import { LOGIN_FAILURES, type LoginFailure, whyRejected } from './auth.ts';
import { onceASecond, type Readiness } from './health.ts';
import type { WhyThrownAway } from './thrown-away.ts';

export const METRICS_PATH = '/metrics';

/** Upper bounds of the histogram of response times, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Number of shown characters of an access key. The whole access key would reveal half of the credentials. */
const KEY_SHOWN = 12;

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics(store: Store, readiness: Readiness, now: () => Date, underWay: () => number) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const describe = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => ({
    ...{ name: `codesign_${name}`, help, labelNames, registers: [registry] },
  });
  const answers = new Counter(
    describe('answers_total', 'Number of responses by operation and status.', 'operation', 'status'),
  );
  const durations = new Histogram({
    ...describe('answer_seconds', 'Time from the headers of a request to the end of the response.', 'operation'),
    buckets: BUCKETS,
  });
  const thrownAway = new Counter(
    describe('signatures_thrown_away_total', 'Number of signatures that did not reach a client.', 'reason'),
  );
  const failedLogins = new Counter(describe('failed_logins_total', 'Failed logins by reason.', 'kind', 'failure'));
  const calls = new Gauge(
    describe('signatures_under_way', 'Signature requests that the HSM is processing, or that are waiting for the HSM.'),
  );
  const ready = new Gauge(describe('ready', '1 if a check of /readyz succeeds, otherwise 0.', 'check'));
  const ends = new Gauge(
    describe('certificate_end_seconds', 'Time at which the certificate expires, in seconds since 1970.', 'certificate'),
  );
  const used = new Gauge(
    describe('quota_used', 'Number of signatures counted for an active client.', 'client', 'key', 'period'),
  );
  const left = new Gauge(
    describe('quota_left', 'Number of signatures that an active client may still request.', 'client', 'key', 'period'),
  );
  // Prometheus misses the first event of a counter that it has not seen with the value 0 before.
  for (const kind of ['client', 'viewer']) for (const failure of LOGIN_FAILURES) failedLogins.inc({ kind, failure }, 0);

  const refresh = onceASecond(async () => {
    const failing = await readiness.failing();
    const [certificates, clients] = failing.includes('database')
      ? [[], []]
      : await Promise.all([store.certificates.list(), store.clients.list()]);
    for (const check of readiness.checks) ready.set({ check }, failing.includes(check) ? 0 : 1);
    for (const gauge of [ends, used, left]) gauge.reset();
    for (const certificate of certificates.filter((each) => !isDisabled(each, now()))) {
      ends.set({ certificate: certificate.number }, certificate.notAfter.getTime() / 1000);
    }
    for (const client of clients.filter((each) => whyRejected(each, now()) === undefined)) {
      const labels = { client: printable(client.name ?? ''), key: client.accessKey.slice(0, KEY_SHOWN) };
      for (const { period, used: count, left: rest } of quotasOf(client)) {
        used.set({ ...labels, period }, count);
        if (rest !== undefined) left.set({ ...labels, period }, rest);
      }
    }
  });
  return {
    contentType: registry.contentType,
    observe(operation: string, status: number, seconds: number) {
      answers.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
    countThrownAway: (reason: WhyThrownAway) => thrownAway.inc({ reason }),
    countFailedLogin: (kind: 'client' | 'viewer', failure: LoginFailure) => failedLogins.inc({ kind, failure }),
    async text(): Promise<string> {
      await refresh();
      calls.set(underWay());
      return await registry.metrics();
    },
  };
}
