/** Faults of envelopes, of reports and of the count. */

import type { Counted } from '../behaviour.ts';
import { type Fault, fault } from '../fault.ts';

const ENVELOPES_OF_ERRORS = [
  /^the response to (?!a report is).* is a JSON envelope$/,
  'the response to an authentication failure is a JSON envelope whose `data` is null',
  'the response to a parameter error is a JSON envelope whose `data` is null',
];
const UNREADABLE =
  /^the response to (a request body (that|with)|a request without a body|a report whose body is (not JSON|an array)).* is a JSON envelope$/;

const ENVELOPE_FAULTS: readonly Fault[] = [
  fault('has no message', () => ({ body: (code, _message, data) => JSON.stringify({ code, data }) }), [
    ...ENVELOPES_OF_ERRORS,
    'the response with a signature is a JSON envelope: `code` is an integer, `message` a string and `data` an object',
    'the response to a report is a JSON envelope',
  ]),
  fault(
    'has an object as the data of errors',
    ({ body }) => ({ body: (code, message, data, by) => body(code, message, code === 0 ? data : {}, by) }),
    ENVELOPES_OF_ERRORS.slice(1),
  ),
  fault(
    'has a signature in its refusals of a padding',
    ({ body }) => ({
      body: (code, message, data, by) => body(code, message, /padding/.test(message) ? { signature: 'x' } : data, by),
    }),
    [/^a request whose `padding` .* gets error code 400$/],
  ),
  fault(
    'has a page for what it cannot read',
    ({ body }) => ({
      body: (code, message, ...more) => (message === 'cannot be read' ? '<h1>Bad</h1>' : body(code, message, ...more)),
    }),
    [UNREADABLE],
  ),
  fault(
    'has its successes under HTTP 500',
    ({ httpStatus }) => ({ httpStatus: (code) => (code === 0 ? 500 : httpStatus(code)) }),
    [
      /(^|: )the service signs /,
      /^the service accepts a request /,
      '8 concurrent calls get 8 different ids',
      'a request needs only the three documented headers, with names in any letter case',
      'the response to a valid request has HTTP 2xx, code 0 and a non-empty `data.signature`',
    ],
  ),
];

const REPORT_FAULTS: readonly Fault[] = [
  fault('takes any status', () => ({ report: (isKnown) => (isKnown ? 0 : 400) }), [
    /^the service rejects a report whose `status` field is /,
    'how the service rejects a report of status 3',
  ]),
  fault(
    'does not take status 2',
    ({ report }) => ({ report: (isKnown, asked) => (asked.status === 2 ? 400 : report(isKnown, asked)) }),
    ['the service accepts a report of status 2'],
  ),
  fault(
    'takes a report without an id',
    () => ({ report: (_isKnown, { status }) => (status === 1 || status === 2 ? 0 : 400) }),
    [/^the service rejects a report whose `id` field is /, 'how the service rejects a report without an id'],
  ),
  fault(
    'has data for a report',
    ({ body }) => ({ body: (code, message, data, by) => body(code, message, code === 0 ? (data ?? {}) : data, by) }),
    ['the response to an accepted report has `data` null'],
  ),
];

const REPORTS_COUNT = [/^(a report|reports) .* (does|do) not change the count$/];
const COUNTED: readonly (readonly [Counted, readonly (string | RegExp)[]])[] = [
  ['unauthorized', ['the service does not count an authentication failure']],
  ['parameter', ['the service does not count a request with a wrong parameter']],
  ['unreadable', ['the service does not count a request that it cannot read']],
  ['broken-off', ['the service does not count an interrupted request']],
  ['report', REPORTS_COUNT],
];
const SIGNATURES_COUNT = ['the service counts each signature once', 'the service counts every concurrent signature'];

const COUNT_FAULTS: readonly Fault[] = [
  ...COUNTED.map(([event, breaks]) =>
    fault(
      `counts what is ${event}`,
      ({ counts }) => ({ counts: (each) => (each === event ? 1 : counts(each)) }),
      breaks,
    ),
  ),
  fault('counts a signature twice', ({ counts }) => ({ counts: (event) => 2 * counts(event) }), SIGNATURES_COUNT),
  fault('counts nothing', () => ({ counts: () => 0 }), SIGNATURES_COUNT),
];

export const ANSWER_FAULTS: readonly Fault[] = [...ENVELOPE_FAULTS, ...REPORT_FAULTS, ...COUNT_FAULTS];
