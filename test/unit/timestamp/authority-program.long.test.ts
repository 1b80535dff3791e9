/** Every mode of the authority among the verifiers' programs (CODESIGN_TEST_VERIFIERS): one that is not made for this program. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { readTimestampToken } from '../../../src/timestamp/read-token.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { copyOfVerifiersPki } from '../../support/signed-files/verifiers-pki.ts';
import { openAuthorities } from './support/open-authorities.ts';

const verifiers = process.env.CODESIGN_TEST_VERIFIERS ?? '';
const SIGNATURE = Buffer.from('signature');

const USABLE = ['ok', 'slow'];
const UNUSABLE: Readonly<Record<string, RegExp>> = {
  reject: /it rejects the request: rejection/,
  garbage: /the answer is not a timestamp/,
  empty: /the answer is empty/,
  http500: /HTTP 500 after 4 attempts/,
  http200html: /a web page/,
  hang: /no answer within 1 s/,
  replay: /is for other data|the nonce of another request/,
  past2024: /says 2024-06-01T/,
  future: /says 2031-06-01T/,
  badnonce: /the nonce of another request/,
  badimprint: /is for other data/,
  corrupt: /signature of the timestamp is not valid/,
  expired: /"Corpus Test TSA Expired" expired/,
  // OpenSSL itself refuses to stamp with it.
  wrongcert: /HTTP 500/,
};

let folder: string;
let program: ChildProcess;
let base: string;

describe.skipIf(verifiers === '')('the authority program', () => {
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'codesign-tsa-program-'));
    await copyOfVerifiersPki(verifiers, folder);
    const script = path.join(verifiers, 'tsa.mjs');
    program = spawn(process.execPath, [script, '--pki', folder, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    base = await new Promise<string>((resolve, reject) => {
      program.stdout?.on('data', (text: Buffer) => resolve(/http:\S+/.exec(text.toString())?.[0] ?? ''));
      program.once('exit', () => reject(new Error(`${script} has ended`)));
    });
  });
  afterAll(() => {
    program.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(USABLE)('%s: returns a timestamp that openssl accepts', async (mode) => {
    const authorities = openAuthorities([`${base}/m/${mode}`], { timeoutMilliseconds: 30_000 });
    const { token } = await authorities.stamp(SIGNATURE);
    await authorities.close();
    expect(readTimestampToken(token, SIGNATURE).findings).toEqual([]);
    const files = { token, data: SIGNATURE, 'root.pem': readFileSync(path.join(folder, 'root.crt')) };
    const args = ['ts', '-verify', '-token_in', '-in', 'token', '-data', 'data', '-CAfile', 'root.pem'];
    expect(openssl(args, files).toString()).toContain('Verification: OK');
  });

  it.each(Object.entries(UNUSABLE))(
    '%s: is rejected, with the reason, and passed over for the next one',
    async (mode, reason) => {
      const bad = `${base}/m/${mode}`;
      const options = { timeoutMilliseconds: mode === 'hang' ? 1000 : 30_000 };
      const first = openAuthorities([`${base}/m/ok`]);
      await first.stamp(Buffer.from('what is replayed'));
      await first.close();

      const alone = openAuthorities([bad], options);
      const error: CodesignError = await alone.stamp(SIGNATURE).then(
        () => expect.fail('a timestamp was given'),
        (thrown) => thrown,
      );
      await alone.close();
      expect(error).toMatchObject({ code: 'timestamp-failed', message: expect.stringMatching(reason) });

      const both = openAuthorities([bad, `${base}/m/ok`], options);
      await expect(both.stamp(SIGNATURE)).resolves.toMatchObject({ authority: `${base}/m/ok` });
      await both.close();
    },
  );
});
