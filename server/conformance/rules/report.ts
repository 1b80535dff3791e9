/**
 * Sections 2.5, 3 and 4.2: report-sign. The document does not show its errors, so a rejection may have any code
 * except 0.
 */

import { describeAnswer, isRefused, isRefusedSomehow, isReported } from '../check-answer.ts';
import { type Answer, basic, CannotAsk, type Deployment } from '../deployment.ts';
import { broken, chosen, KEPT, type Rule, shared, unsigned, type Verdict } from '../rule.ts';

const reports = (status: number): Rule =>
  shared('4.2', `the service accepts a report of status ${status}`, async (deployment) =>
    isReported(await deployment.report({ id: await deployment.recordId(), status })),
  );

/** Section 2.5 allows only the integers 1 and 2. */
const BAD_STATUSES: Readonly<Record<string, unknown>> = {
  '0': 0,
  '3': 3,
  '-1': -1,
  '1.5': 1.5,
  'a string': '1',
  null: null,
  true: true,
  'an array': [1],
  missing: undefined,
};

const BAD_IDS: Readonly<Record<string, unknown>> = {
  missing: undefined,
  'an empty string': '',
  null: null,
  // No record that a deployment may have.
  'a number': -987_654_321,
  'an object': {},
};

/** Cases that the document leaves open; success is also allowed. */
const open = (section: string, title: string, ask: (deployment: Deployment, id: string) => Promise<Answer>): Rule =>
  shared(section, title, async (deployment) =>
    chosen(describeReport(await ask(deployment, await deployment.recordId()))),
  );

const describeReport = (answer: Answer) => (isReported(answer).kind === 'kept' ? 'success' : describeAnswer(answer));

async function ofAnother(deployment: Deployment): Promise<Verdict> {
  const { otherClient } = deployment.options;
  if (otherClient === undefined) throw new CannotAsk('no second client was set');
  const authorization = basic(otherClient);
  const id = await deployment.recordId();
  const foreign = await deployment.report({ id, status: 2 }, { authorization });
  if (foreign.code === 401) throw new CannotAsk('the service rejects the credentials of the second client');
  const unknown = await deployment.report({ id: 'conformance-no-such-record', status: 2 }, { authorization });
  const same = describeAnswer(foreign) === describeAnswer(unknown) && foreign.message === unknown.message;
  return chosen(`${describeReport(foreign)}, ${same ? 'same as for an unknown id' : 'different from an unknown id'}`);
}

export const REPORT_RULES: readonly Rule[] = [
  reports(1),
  reports(2),
  shared('4.2', 'the response to an accepted report has `data` null', async (deployment) => {
    const answer = await deployment.report({ id: await deployment.recordId(), status: 1 });
    if (isReported(answer).kind !== 'kept') throw new CannotAsk('the service rejected the report');
    return answer.data === null ? KEPT : broken('data is not null', answer);
  }),
  ...Object.entries(BAD_STATUSES).map(([title, status]) =>
    shared('2.5', `the service rejects a report whose \`status\` field is ${title}`, async (deployment) =>
      isRefused(await deployment.report({ id: await deployment.recordId(), status })),
    ),
  ),
  ...Object.entries(BAD_IDS).map(([title, id]) =>
    unsigned('2.5', `the service rejects a report whose \`id\` field is ${title}`, async (deployment) =>
      isRefused(await deployment.report({ id, status: 1 })),
    ),
  ),
  unsigned('2.5', 'how the service rejects a report without an id', async (deployment) =>
    isRefusedSomehow(await deployment.report({ status: 1 })),
  ),
  shared('2.5', 'how the service rejects a report of status 3', async (deployment) =>
    isRefusedSomehow(await deployment.report({ id: await deployment.recordId(), status: 3 })),
  ),
  unsigned('7', 'how the service treats a report for an unknown id', async (deployment) =>
    chosen(describeReport(await deployment.report({ id: 'conformance-no-such-record', status: 1 }))),
  ),
  open('3', 'how the service treats a repeated report', async (deployment, id) => {
    await deployment.report({ id, status: 1 });
    return deployment.report({ id, status: 1 });
  }),
  open('3', 'how the service treats a report of status 2 after a report of status 1', async (deployment, id) => {
    await deployment.report({ id, status: 1 });
    return deployment.report({ id, status: 2 });
  }),
  open('3', 'how the service treats a report of status 1 after a report of status 2', async (deployment, id) => {
    await deployment.report({ id, status: 2 });
    return deployment.report({ id, status: 1 });
  }),
  open('2.5', 'how the service treats an unknown member of a report', (deployment, id) =>
    deployment.report({ id, status: 1, conformance: true }),
  ),
  {
    ...shared('7', 'how the service treats a report for a record of another client', ofAnother),
    needs: 'other-client',
  },
];
