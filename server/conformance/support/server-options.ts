/** The bundled server as a deployment for the suite. */

import { readFile } from 'node:fs/promises';
import type { TestServer } from '../../../test/support/services/server.ts';
import type { DeploymentOptions } from '../deployment.ts';
import { signingKey } from '../signature.ts';
import { mostSignatures, RULES } from '../suite.ts';

/** @param count returns the number of signatures counted for its client */
export async function optionsOf(
  { baseUrl, env, caFile }: Pick<TestServer, 'baseUrl' | 'env' | 'caFile'>,
  count?: () => Promise<number>,
): Promise<DeploymentOptions> {
  return {
    baseUrls: [new URL(baseUrl)],
    code: env.CODESIGN_CODE ?? '',
    credentials: { accessKey: env.CODESIGN_ACCESS_KEY ?? '', accessSecret: env.CODESIGN_ACCESS_SECRET ?? '' },
    ca: [await readFile(caFile, 'utf8')],
    key: signingKey(await readFile(env.CODESIGN_CERTIFICATE ?? '', 'utf8')),
    count,
    timeout: 30_000,
    limit: mostSignatures(RULES),
  };
}
