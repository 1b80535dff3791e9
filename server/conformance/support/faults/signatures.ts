/** Faults of signatures and their records. */

import { constants, privateEncrypt, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_DIGEST_NAME } from '../../../../src/crypto/algorithms.ts';
import { digestInfo } from '../../signature.ts';
import { type Behaviour, signatureOver } from '../behaviour.ts';
import { type Fault, fault } from '../fault.ts';

const OVER_THE_DIGEST = [/RSASSA-PKCS1-v1_5/, /^each of 8 concurrent calls/];

/** What came last, as a server keeps it that has one variable for all calls. */
function keptForAll(good: Behaviour): Behaviour['signature'] {
  let latest: Buffer = Buffer.alloc(0);
  return async (algorithm, digest) => {
    latest = digest;
    await sleep(20);
    return good.signature(algorithm, latest);
  };
}

/** Signs otherwise with one algorithm alone. */
const otherwiseFor =
  (wanted: string, other: Behaviour['signature']) =>
  ({ signature }: Behaviour): Partial<Behaviour> => ({
    signature: (algorithm, digest) => (algorithm === wanted ? other : signature)(algorithm, digest),
  });

export const SIGNATURE_FAULTS: readonly Fault[] = [
  fault(
    'signs by PSS',
    (_good, { key }) => ({
      signature: async (algorithm, digest) =>
        sign(NODE_DIGEST_NAME[algorithm], digest, { key, padding: constants.RSA_PKCS1_PSS_PADDING }).toString('base64'),
    }),
    [...OVER_THE_DIGEST, /^the same digest always gets the same signature/],
  ),
  fault(
    'names SHA256 in the DigestInfo of SHA512',
    (good, { key }) =>
      otherwiseFor('SHA512', async (_algorithm, digest) => signatureOver(key, digestInfo('SHA256', digest)))(good),
    ['SHA512: the signature is RSASSA-PKCS1-v1_5 over the digest that was sent'],
  ),
  fault(
    'gives signatures in Base64 for addresses',
    (_good, { key }) => ({
      signature: async (algorithm, digest) => privateEncrypt(key, digestInfo(algorithm, digest)).toString('base64url'),
    }),
    ['`data.signature` is encoded in Base64'],
  ),
  fault(
    'gives an empty signature for SHA384',
    otherwiseFor('SHA384', async () => ''),
    ['SHA384: the service signs a digest of 48 bytes'],
  ),
  fault('gives empty ids', () => ({ record: () => '' }), [
    '`data.id` is a non-empty string',
    'signatures of different digests have different ids',
    '8 concurrent calls get 8 different ids',
    'the service rejects a report whose `id` field is an empty string',
  ]),
  fault('keeps one variable for all calls at once', (good) => ({ signature: keptForAll(good) }), [
    'each of 8 concurrent calls gets a signature for its own digest',
  ]),
  fault('is confused by a client that leaves', () => ({ staggers: true }), [
    'a client that disconnects during its request does not affect other calls',
  ]),
];
