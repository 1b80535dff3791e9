/** A signature travels whole: requested with the right digest, given back as the bytes that verify. */

import { createHash, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import { DIGEST_ALGORITHMS, NODE_DIGEST_NAME } from '../../../src/crypto/algorithms.ts';
import { startMisbehavingService } from '../../support/services/misbehaving-service.ts';
import { openServiceClient } from '../../support/services/service-client.ts';
import { rsaKey } from '../../support/signed-files/rsa-keys.ts';

test.each(DIGEST_ALGORITHMS)('%s', async (algorithm) => {
  const { privateKey, publicKey } = rsaKey(2048, 'signature.test');
  const { stop, ...misbehaving } = await startMisbehavingService('good', { key: privateKey });
  const { service } = await openServiceClient(misbehaving);
  const content = Buffer.from('what is signed');
  const name = NODE_DIGEST_NAME[algorithm];
  const digest = createHash(name).update(content).digest();
  const { id, signature } = await service.sign({ code: '1', algorithm, digest });
  await service.close();
  await stop();
  expect(id).toBe('record-1');
  expect(verify(name, content, publicKey, signature)).toBe(true);
});
