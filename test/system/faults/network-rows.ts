/** Rows of the fault matrix: the network, the service and the timestamp authority. */

import type { Harm, RelayedOperation } from '../../support/services/faulty-relay.ts';
import { KEPT, NOTHING_ASKED, REPORTED_LATER, SIGNED, unknown } from './courses.ts';
import type { Course, Row } from './row.ts';

const NOWHERE = '127.0.0.1:9';
const WEB_PAGE = 'HTTP 200 with a web page after the service signed';

type Harmed = readonly [
  fault: string,
  harm: Harm,
  error: string | null,
  right: Course,
  more?: { readonly times?: number; readonly core?: boolean },
];

const rowsOf =
  (step: string, operation: RelayedOperation, settings: Row['settings'] = {}) =>
  ([fault, harm, error, right, { core = false, ...times } = {}]: Harmed): Row => ({
    ...{ step, fault, core, settings, right },
    formats: ['pe'],
    variants: { '-': error },
    network: { operation, harm, ...times },
    timestamp: operation === 'tsa',
    ...(/^times-out|forgotten/.test(harm) ? { timeout: 2 } : {}),
  });

const CORE = { core: true };
const ONCE = { times: 1 };
const BROKEN = 'connection-broken';
const TIMED_OUT = 'sign-timed-out';
const MISMATCH: Course = {
  ...KEPT,
  resume: '0, unwritten: left',
  afterResume: 'original',
  again: '6, signature-mismatch; given up: 0, asked',
  total: 2,
};

const sign: readonly Harmed[] = [
  ['time-out, the request lost on its way', 'times-out-before', TIMED_OUT, unknown(3, 0)],
  ['time-out, the answer lost on its way', 'times-out-after', TIMED_OUT, unknown(3, 1), CORE],
  ['reset before the service heard of it', 'reset-before', BROKEN, unknown(3, 0)],
  ['reset before the answer', 'reset-before-answer', BROKEN, unknown(3, 1)],
  ['reset in the answer', 'reset-in-answer', BROKEN, unknown(3, 1)],
  ['reset after the answer', 'reset-after-answer', null, SIGNED],
  ['HTTP 429 once', 'status-429', null, { ...SIGNED, asked: 2 }, ONCE],
  ['HTTP 429 always', 'status-429', 'throttled', { ...NOTHING_ASKED, exit: 4, asked: 5 }],
  ['HTTP 500', 'status-500', 'http-error', { ...NOTHING_ASKED, exit: 4, asked: 1 }],
  ['HTTP 502 after the service signed', 'status-502-after', 'http-error', unknown(4, 1)],
  [WEB_PAGE, 'no-answer-of-the-api', 'malformed-answer', unknown(5, 1)],
  ['a wrong signature', 'wrong-signature', 'signature-mismatch', MISMATCH],
  ['a far and slow network', 'far-and-slow', null, SIGNED],
  ['a reload of the proxy while the service signs', 'reload', null, SIGNED, CORE],
  ['the network forgets the connections while the service signs', 'forgotten', TIMED_OUT, unknown(3, 1)],
];

/** The repetition brings a signature: of the first request nothing is known here. */
const repeated = (counted: 1 | 2): Course => ({ ...SIGNED, asked: 2, counted, total: counted });
const NEVER_REPEATED: Course = { ...unknown(3, 1), asked: 2, counted: 2, total: 3 };

const signRepeated: readonly Harmed[] = [
  ['reset before the service heard of it, once', 'reset-before', null, repeated(1), ONCE],
  ['reset before the answer, once', 'reset-before-answer', null, repeated(2), { ...ONCE, ...CORE }],
  ['time-out, the answer lost on its way, once', 'times-out-after', null, repeated(2), ONCE],
  ['HTTP 502 after the service signed, once', 'status-502-after', null, repeated(2), ONCE],
  ['reset before the answer, always', 'reset-before-answer', BROKEN, NEVER_REPEATED],
  [WEB_PAGE, 'no-answer-of-the-api', 'malformed-answer', unknown(5, 1)],
];

const NO_TIMESTAMP = ['timestamp-failed', { ...KEPT, exit: 7 }] as const;

const timestamp: readonly Harmed[] = [
  ['time-out', 'times-out-before', ...NO_TIMESTAMP],
  ['reset before the authority heard of it', 'reset-before', ...NO_TIMESTAMP],
  ['reset before the answer', 'reset-before-answer', ...NO_TIMESTAMP],
  ['reset in the answer', 'reset-in-answer', ...NO_TIMESTAMP],
  ['reset after the answer', 'reset-after-answer', null, SIGNED],
  ['HTTP 429 once', 'status-429', null, SIGNED, ONCE],
  ['HTTP 429 always', 'status-429', ...NO_TIMESTAMP],
  ['HTTP 500 once', 'status-500', null, SIGNED, ONCE],
  ['HTTP 500 always', 'status-500', ...NO_TIMESTAMP],
  ['a wrong signature in the timestamp', 'wrong-signature', ...NO_TIMESTAMP],
];

const report: readonly Harmed[] = [
  ['time-out, the report lost on its way', 'times-out-before', null, REPORTED_LATER],
  ['time-out, the answer lost on its way', 'times-out-after', null, REPORTED_LATER],
  ['reset before the service heard of it', 'reset-before', null, REPORTED_LATER],
  ['reset before the answer', 'reset-before-answer', null, REPORTED_LATER],
  ['reset in the answer', 'reset-in-answer', null, REPORTED_LATER],
  ['reset after the answer', 'reset-after-answer', null, SIGNED],
  ['HTTP 429 once', 'status-429', null, SIGNED, ONCE],
  ['HTTP 429 always', 'status-429', null, REPORTED_LATER],
  ['HTTP 500 once', 'status-500', null, SIGNED, ONCE],
  ['HTTP 500 always', 'status-500', null, REPORTED_LATER],
  ['a reload of the proxy while the report is under way', 'reload', null, SIGNED],
  ['the network forgets the connections while the report is under way', 'forgotten', null, SIGNED, ONCE],
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
  ...sign.map(rowsOf('sign', 'sign')),
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
  ...report.map(rowsOf('report', 'report-sign')),
];
