/** The access secret on standard input, from a script: one line, and nothing else. */

import type { Readable } from 'node:stream';
import { checkAccessSecret } from '../../options/credentials/credentials.ts';
import { settingsErrors } from '../../options/errors.ts';
import { Secret } from '../../secrets/secret.ts';

/** What is larger is no secret, but something else that was led there. */
const LARGEST = 64 * 1024;
const SOURCE = 'standard input';

/** Throws `access-secret-invalid`. */
export async function readSecretLine(stdin: Readable): Promise<Secret> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > LARGEST) {
      throw settingsErrors('access-secret-invalid', { source: SOURCE, problem: 'holds more than a secret' });
    }
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  checkAccessSecret(text, SOURCE);
  return new Secret(text);
}
