/** Section 8: counting. The API does not return the count, so a command of the operator must print it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, CannotAsk, type Deployment } from '../deployment.ts';
import { broken, chosen, KEPT, type Rule, shared, spending, type Verdict } from '../rule.ts';
import { signAtOnce } from './connections.ts';

/** Milliseconds within which a new count must be visible. */
const PATIENCE = 5000;

/** Kept if the count increases by exactly the number of signatures that `work` received. */
async function counts(
  deployment: Deployment,
  work: () => Promise<readonly Answer[]>,
  wanted?: number,
): Promise<Verdict> {
  const [given, before] = [deployment.signatures(), await deployment.count()];
  const answers = await work();
  const expected = deployment.signatures() - given;
  if (wanted !== undefined && expected !== wanted)
    throw new CannotAsk(`${expected} signatures were made instead of ${wanted}`);
  const until = performance.now() + PATIENCE;
  let rise = (await deployment.count()) - before;
  while (expected > 0 && rise < expected && performance.now() < until) {
    await sleep(100);
    rise = (await deployment.count()) - before;
  }
  if (rise === expected) return KEPT;
  return broken(`the count went from ${before} to ${before + rise} for ${expected} signatures`, ...answers.slice(-1));
}

const counting = (
  section: string,
  title: string,
  spends: number,
  work: (deployment: Deployment) => Promise<readonly Answer[]>,
): Rule => ({
  ...spending(section, title, spends, (deployment) => counts(deployment, () => work(deployment), spends || undefined)),
  needs: 'count',
});

/** Reports the shared record, whose signature is requested before the count is read. */
const reporting = (section: string, title: string, statuses: readonly unknown[]): Rule => ({
  ...shared(section, title, async (deployment) => {
    const id = await deployment.recordId();
    return counts(deployment, async () => {
      const answers: Answer[] = [];
      for (const status of statuses) answers.push(await deployment.report({ id, status }));
      return answers;
    });
  }),
  needs: 'count',
});

/** The document does not define this case, and the result depends on timing. */
async function lostAnswer(deployment: Deployment): Promise<Verdict> {
  const before = await deployment.count();
  await deployment.sendAndLeave({ body: deployment.body() }, 0);
  await sleep(500);
  const rise = (await deployment.count()) - before;
  if (rise !== 0 && rise !== 1) {
    const exchange = { request: 'a client that leaves before its answer', answer: 'none' };
    return broken(`the count went from ${before} to ${before + rise}`, { exchange });
  }
  return chosen(rise === 1 ? 'counted, this time' : 'not counted, this time');
}

export const COUNTING_RULES: readonly Rule[] = [
  counting('8 rule 1', 'the service counts each signature once', 1, async (deployment) => [
    await deployment.sign(deployment.body()),
  ]),
  counting('8 rule 1', 'the service counts every concurrent signature', 8, async (deployment) =>
    (await signAtOnce(deployment)).map(({ answer }) => answer),
  ),
  counting('8 rule 2', 'the service does not count an authentication failure', 0, async (deployment) => [
    await deployment.sign(await deployment.strangersBody(), { authorization: null }),
    await deployment.sign(await deployment.strangersBody(), { authorization: 'Basic x' }),
  ]),
  counting('8 rule 2', 'the service does not count a request with a wrong parameter', 0, async (deployment) => {
    const answers: Answer[] = [];
    for (const name of ['code', 'digest', 'algorithm', 'padding']) {
      answers.push(await deployment.sign({ ...deployment.body(), [name]: 'CONFORMANCE!' }));
    }
    return answers;
  }),
  counting('8 rule 2', 'the service does not count a request that it cannot read', 0, async (deployment) => [
    await deployment.sign('{'),
    await deployment.sign(''),
    await deployment.call('/v1/codesign/conformance-unknown', { body: deployment.refusedBody() }),
  ]),
  counting('8 rule 2', 'the service does not count an interrupted request', 0, async (deployment) => {
    const body = JSON.stringify(deployment.body()).slice(0, -2);
    await deployment.sendAndLeave({ headers: { 'Content-Length': '400' }, body }, 20);
    return [];
  }),
  {
    section: '8 rule 2',
    title: 'whether the service counts a signature if the client disconnects before the response',
    spends: 1,
    needs: 'count',
    ask: lostAnswer,
  },
  reporting('8 rule 3', 'a report of success does not change the count', [1]),
  reporting('8 rule 4', 'a report of failure does not change the count', [2]),
  reporting('8 rule 3', 'reports that are repeated, changed or wrong do not change the count', [1, 1, 2, 1, 3, null]),
  counting('8 rule 3', 'a report for an unknown id does not change the count', 0, async (deployment) => [
    await deployment.report({ id: 'conformance-no-such-record', status: 1 }),
  ]),
];
