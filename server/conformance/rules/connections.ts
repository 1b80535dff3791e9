/** Rules about concurrent calls, open connections, and clients that disconnect. */

import { randomBytes } from 'node:crypto';
import { describeAnswer } from '../check-answer.ts';
import { CannotAsk, type Deployment, isTurnedAway, type Signed } from '../deployment.ts';
import { broken, chosen, each, KEPT, type Rule, spending, unsigned, type Verdict } from '../rule.ts';
import { verified } from './sign.ts';

export const AT_ONCE = 8;
/**
 * Milliseconds after which a client disconnects: the service may have made the signature, but usually has not sent
 * the response.
 */
const LINGER = 20;

export async function signAtOnce(deployment: Deployment): Promise<readonly Signed[]> {
  return Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const digest = randomBytes(32);
      return {
        algorithm: 'SHA256',
        digest,
        answer: await deployment.sign(deployment.body('SHA256', digest), { impatient: true }),
      } as const;
    }),
  );
}

async function distinct(deployment: Deployment): Promise<Verdict> {
  const all = await signAtOnce(deployment);
  const signed = all.filter(({ answer }) => answer.signature !== undefined);
  const failed = all.find((each) => each.answer.signature === undefined && !isTurnedAway(each.answer));
  if (failed !== undefined)
    return broken(`${describeAnswer(failed.answer)} for one of ${AT_ONCE} concurrent calls`, failed.answer);
  const ids = new Set(signed.map(({ answer }) => answer.id));
  const answers = signed.map(({ answer }) => answer);
  if (ids.size < signed.length)
    return broken(`${signed.length} signatures with ${ids.size} ids`, ...answers.slice(0, 2));
  if (signed.length < AT_ONCE) return chosen(`${AT_ONCE - signed.length} of ${AT_ONCE} were rejected temporarily`);
  return KEPT;
}

/** The call after the disconnection must get the same response as the call before it. */
async function undisturbed(deployment: Deployment, leave: () => Promise<void>): Promise<Verdict> {
  const before = await deployment.sign(deployment.refusedBody());
  await leave();
  const after = await deployment.sign(deployment.refusedBody());
  return describeAnswer(after) === describeAnswer(before)
    ? KEPT
    : broken(`${describeAnswer(after)} for the next call`, after);
}

export const CONNECTION_RULES: readonly Rule[] = [
  spending('2.4', `${AT_ONCE} concurrent calls get ${AT_ONCE} different ids`, AT_ONCE, distinct),
  {
    section: '1',
    title: `each of ${AT_ONCE} concurrent calls gets a signature for its own digest`,
    spends: AT_ONCE,
    needs: 'certificate',
    async ask(deployment) {
      const signed = (await signAtOnce(deployment)).filter(({ answer }) => answer.signature !== undefined);
      if (signed.length === 0) throw new CannotAsk('the service returned no signature');
      return each(signed, async (one) => verified(deployment, one));
    },
  },
  unsigned('4', 'whether a connection serves more than one call', async (deployment) => {
    await deployment.sign(deployment.refusedBody());
    const { reused } = await deployment.sign(deployment.refusedBody());
    return chosen(reused ? 'it does' : 'the connection is closed after each call');
  }),
  unsigned('8 rule 2', 'a client that disconnects during its request does not affect other calls', async (deployment) =>
    undisturbed(deployment, () => {
      const body = JSON.stringify(deployment.body()).slice(0, 40);
      return deployment.sendAndLeave({ headers: { 'Content-Length': '400' }, body }, LINGER);
    }),
  ),
  spending(
    '7 rule 3',
    'a client that disconnects before its response does not affect other calls',
    1,
    async (deployment) => undisturbed(deployment, () => deployment.sendAndLeave({ body: deployment.body() }, LINGER)),
  ),
  unsigned('4', 'how the service treats a chunked body (Transfer-Encoding)', async (deployment) => {
    const text = JSON.stringify(deployment.refusedBody());
    const headers = { 'Transfer-Encoding': 'chunked' };
    const answer = await deployment.sign(text, { headers });
    return chosen(answer.code === 400 ? 'accepted' : describeAnswer(answer));
  }),
];
