/** Sections 1, 2.4, 4.1 and 9: the response to a valid `sign` request. */

import { DIGEST_ALGORITHMS, DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { isSigned } from '../check-answer.ts';
import { CannotAsk, type Deployment, type Signed, withSignature } from '../deployment.ts';
import { decodeBase64 } from '../envelope.ts';
import { broken, chosen, KEPT, type Rule, shared, spending, type Verdict } from '../rule.ts';
import { signatureFault } from '../signature.ts';

const ofAlgorithm = (algorithm: DigestAlgorithm): readonly Rule[] => [
  shared(
    '9',
    `${algorithm}: the service signs a digest of ${DIGEST_LENGTH[algorithm]} bytes`,
    async (deployment) => isSigned((await deployment.signed(algorithm)).answer),
    algorithm,
  ),
  {
    section: '1',
    title: `${algorithm}: the signature is RSASSA-PKCS1-v1_5 over the digest that was sent`,
    spends: 0,
    shares: [algorithm],
    needs: 'certificate',
    ask: async (deployment) => verified(deployment, await deployment.signed(algorithm)),
  },
];

/** Kept if the signature verifies with the certificate. */
export function verified({ options: { key } }: Deployment, { algorithm, digest, answer }: Signed): Verdict {
  if (key === undefined) throw new CannotAsk('no certificate was set');
  const signature = Buffer.from(withSignature(answer).signature ?? '', 'base64');
  const fault = signatureFault(key, algorithm, digest, signature);
  return fault === undefined ? KEPT : broken(fault, answer);
}

/** Requests a signature of the shared signature's digest. */
async function signTwice(deployment: Deployment, algorithm: DigestAlgorithm) {
  const { digest, answer } = await deployment.signed(algorithm);
  const second = await deployment.sign(deployment.body(algorithm, digest));
  return [withSignature(answer), second] as const;
}

export const SIGN_RULES: readonly Rule[] = [
  ...DIGEST_ALGORITHMS.flatMap(ofAlgorithm),
  shared(
    '4.1 rule 1',
    'the response to a valid request has HTTP 2xx, code 0 and a non-empty `data.signature`',
    async (deployment) => isSigned((await deployment.signed()).answer),
  ),
  shared('2.4', '`data.signature` is encoded in Base64', async (deployment) => {
    const answer = withSignature((await deployment.signed()).answer);
    return decodeBase64(answer.signature ?? '') ? KEPT : broken('data.signature is not Base64', answer);
  }),
  shared('2.4', '`data.id` is a non-empty string', async (deployment) => {
    const answer = withSignature((await deployment.signed()).answer);
    return typeof answer.id === 'string' && answer.id !== '' ? KEPT : broken('data.id is missing', answer);
  }),
  shared('2.4', 'which additional fields the signature record has', async (deployment) => {
    const { data } = withSignature((await deployment.signed()).answer);
    const further = Object.keys(data ?? {}).filter((name) => name !== 'id' && name !== 'signature');
    return chosen(further.length === 0 ? 'none' : further.join(', '));
  }),
  {
    ...spending('2.4', 'signatures of different digests have different ids', 1, async (deployment) => {
      const first = withSignature((await deployment.signed()).answer);
      const second = withSignature(await deployment.sign(deployment.body()));
      return first.id === second.id ? broken('both have the same id', first, second) : KEPT;
    }),
    shares: ['SHA256'],
  },
  {
    ...spending('7 rule 3', 'whether a request with the same digest creates a new signature', 1, async (deployment) => {
      const [first, second] = await signTwice(deployment, 'SHA256');
      if (second.signature === undefined) return isSigned(second);
      return chosen(first.id === second.id ? 'the same record' : 'a new record');
    }),
    shares: ['SHA256'],
  },
  {
    ...spending(
      '1',
      'the same digest always gets the same signature (PKCS#1 v1.5 is deterministic)',
      1,
      async (deployment) => {
        const [first, second] = await signTwice(deployment, 'SHA512');
        withSignature(second);
        return first.signature === second.signature ? KEPT : broken('the signatures differ', first, second);
      },
    ),
    shares: ['SHA512'],
  },
];
