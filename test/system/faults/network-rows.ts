/** Rows of the fault matrix: the network, the service and the timestamp authority. */

import type { Harm, RelayedOperation } from '../../support/services/faulty-relay.ts';
import { KEPT, NOTHING_ASKED, REPORTED_LATER, SIGNED, unknown } from './courses.ts';
import type { Course, Row } from './row.ts';

const NOWHERE = '127.0.0.1:9';

interface Harmed {
  readonly fault: string;
  readonly harm: Harm;
  readonly times?: number;
  readonly error: string | null;
  readonly right: Course;
  readonly core?: boolean;
}

const rowsOf =
  (step: string, operation: RelayedOperation, settings: Row['settings'] = {}) =>
  ({ fault, harm, times, error, right, core = false }: Harmed): Row => ({
    step,
    fault,
    core,
    formats: ['pe'],
    variants: { '-': error },
    settings,
    network: { operation, harm, ...(times === undefined ? {} : { times }) },
    timestamp: operation === 'tsa',
    ...(/^times-out|forgotten/.test(harm) ? { timeout: 2 } : {}),
    right,
  });

const SIGNED_ANYWAY = { error: null, right: SIGNED } as const;

const sign: readonly Harmed[] = [
  {
    fault: 'time-out, the request lost on its way',
    harm: 'times-out-before',
    error: 'sign-timed-out',
    right: unknown(3, 0),
  },
  {
    fault: 'time-out, the answer lost on its way',
    harm: 'times-out-after',
    error: 'sign-timed-out',
    right: unknown(3, 1),
    core: true,
  },
  {
    fault: 'reset before the service heard of it',
    harm: 'reset-before',
    error: 'connection-broken',
    right: unknown(3, 0),
  },
  { fault: 'reset before the answer', harm: 'reset-before-answer', error: 'connection-broken', right: unknown(3, 1) },
  { fault: 'reset in the answer', harm: 'reset-in-answer', error: 'connection-broken', right: unknown(3, 1) },
  { fault: 'reset after the answer', harm: 'reset-after-answer', ...SIGNED_ANYWAY },
  { fault: 'HTTP 429 once', harm: 'status-429', times: 1, error: null, right: { ...SIGNED, asked: 2 } },
  { fault: 'HTTP 429 always', harm: 'status-429', error: 'throttled', right: { ...NOTHING_ASKED, exit: 4, asked: 5 } },
  { fault: 'HTTP 500', harm: 'status-500', error: 'http-error', right: { ...NOTHING_ASKED, exit: 4, asked: 1 } },
  { fault: 'HTTP 502 after the service signed', harm: 'status-502-after', error: 'http-error', right: unknown(4, 1) },
  {
    fault: 'HTTP 200 with a web page after the service signed',
    harm: 'no-answer-of-the-api',
    error: 'malformed-answer',
    right: unknown(5, 1),
  },
  {
    fault: 'a wrong signature',
    harm: 'wrong-signature',
    error: 'signature-mismatch',
    right: {
      ...KEPT,
      resume: '0, unwritten: left',
      afterResume: 'original',
      again: '6, signature-mismatch; given up: 0, asked',
      total: 2,
    },
  },
];

/** The repetition brings a signature: of the first request nothing is known here. */
const repeated = (counted: 1 | 2): Course => ({ ...SIGNED, asked: 2, counted, total: counted });

const signRepeated: readonly Harmed[] = [
  {
    fault: 'reset before the service heard of it, once',
    harm: 'reset-before',
    times: 1,
    error: null,
    right: repeated(1),
  },
  {
    fault: 'reset before the answer, once',
    harm: 'reset-before-answer',
    times: 1,
    error: null,
    right: repeated(2),
    core: true,
  },
  {
    fault: 'time-out, the answer lost on its way, once',
    harm: 'times-out-after',
    times: 1,
    error: null,
    right: repeated(2),
  },
  {
    fault: 'HTTP 502 after the service signed, once',
    harm: 'status-502-after',
    times: 1,
    error: null,
    right: repeated(2),
  },
  {
    fault: 'reset before the answer, always',
    harm: 'reset-before-answer',
    error: 'connection-broken',
    right: { ...unknown(3, 1), asked: 2, counted: 2, total: 3 },
  },
  {
    fault: 'HTTP 200 with a web page after the service signed',
    harm: 'no-answer-of-the-api',
    error: 'malformed-answer',
    right: unknown(5, 1),
  },
];

const signOnTheLine: readonly Harmed[] = [
  { fault: 'a far and slow network', harm: 'far-and-slow', ...SIGNED_ANYWAY },
  { fault: 'a reload of the proxy while the service signs', harm: 'reload', ...SIGNED_ANYWAY, core: true },
  {
    fault: 'the network forgets the connections while the service signs',
    harm: 'forgotten',
    error: 'sign-timed-out',
    right: unknown(3, 1),
  },
];

const reportOnTheLine: readonly Harmed[] = [
  { fault: 'a reload of the proxy while the report is under way', harm: 'reload', ...SIGNED_ANYWAY },
  {
    fault: 'the network forgets the connections while the report is under way',
    harm: 'forgotten',
    times: 1,
    ...SIGNED_ANYWAY,
  },
];

const NO_TIMESTAMP = { error: 'timestamp-failed', right: { ...KEPT, exit: 7 } } as const;

const timestamp: readonly Harmed[] = [
  { fault: 'time-out', harm: 'times-out-before', ...NO_TIMESTAMP },
  { fault: 'reset before the authority heard of it', harm: 'reset-before', ...NO_TIMESTAMP },
  { fault: 'reset before the answer', harm: 'reset-before-answer', ...NO_TIMESTAMP },
  { fault: 'reset in the answer', harm: 'reset-in-answer', ...NO_TIMESTAMP },
  { fault: 'reset after the answer', harm: 'reset-after-answer', ...SIGNED_ANYWAY },
  { fault: 'HTTP 429 once', harm: 'status-429', times: 1, error: null, right: SIGNED },
  { fault: 'HTTP 429 always', harm: 'status-429', ...NO_TIMESTAMP },
  { fault: 'HTTP 500 once', harm: 'status-500', times: 1, error: null, right: SIGNED },
  { fault: 'HTTP 500 always', harm: 'status-500', ...NO_TIMESTAMP },
  { fault: 'a wrong signature in the timestamp', harm: 'wrong-signature', ...NO_TIMESTAMP },
];

const UNHEARD = { error: null, right: REPORTED_LATER } as const;

const report: readonly Harmed[] = [
  { fault: 'time-out, the report lost on its way', harm: 'times-out-before', ...UNHEARD },
  { fault: 'time-out, the answer lost on its way', harm: 'times-out-after', ...UNHEARD },
  { fault: 'reset before the service heard of it', harm: 'reset-before', ...UNHEARD },
  { fault: 'reset before the answer', harm: 'reset-before-answer', ...UNHEARD },
  { fault: 'reset in the answer', harm: 'reset-in-answer', ...UNHEARD },
  { fault: 'reset after the answer', harm: 'reset-after-answer', ...SIGNED_ANYWAY },
  { fault: 'HTTP 429 once', harm: 'status-429', times: 1, error: null, right: SIGNED },
  { fault: 'HTTP 429 always', harm: 'status-429', ...UNHEARD },
  { fault: 'HTTP 500 once', harm: 'status-500', times: 1, error: null, right: SIGNED },
  { fault: 'HTTP 500 always', harm: 'status-500', ...UNHEARD },
];

export const networkRows: readonly Row[] = [
  {
    step: 'sign',
    fault: 'connection refused',
    formats: ['pe'],
    variants: { '-': 'service-unreachable' },
    settings: { CODESIGN_BASE_URL: `https://${NOWHERE}` },
    right: { ...NOTHING_ASKED, exit: 3 },
  },
  ...[...sign, ...signOnTheLine].map(rowsOf('sign', 'sign')),
  ...signRepeated.map(rowsOf('sign, `--repeat-unknown 1`', 'sign', { CODESIGN_REPEAT_UNKNOWN: '1' })),
  {
    step: 'timestamp',
    fault: 'the authority is down',
    core: true,
    formats: ['pe'],
    variants: { '-': 'timestamp-failed' },
    timestamp: true,
    settings: { CODESIGN_TIMESTAMP_URL: `http://${NOWHERE}/` },
    right: { ...KEPT, exit: 7 },
  },
  ...timestamp.map(rowsOf('timestamp', 'tsa')),
  ...[...report, ...reportOnTheLine].map(rowsOf('report', 'report-sign')),
];
