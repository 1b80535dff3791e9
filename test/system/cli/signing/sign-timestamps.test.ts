/** `codesign-remote sign` with timestamp authorities that answer well, badly or not at all: the real service, a real authority over openssl. */

import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fixture, parseJson, runCli } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { type AuthorityMode, startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

const [server, authority] = await Promise.all([forAll(useServer({ bits: 2048 })), forAll(startTimestampAuthority())]);

const folder = folderForEach();

const sign = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCli(['sign', '--json', '--timeout', '2', ...args], { env: { ...server.env, ...more } });
const asking = (...modes: readonly AuthorityMode[]) => modes.flatMap((mode) => ['-t', authority.urlOf(mode)]);

it('an authority is skipped if it cannot be used, or because of its root, in sign and in timestamp: exit 7 if there is no other', async () => {
  const [own, other] = ['own.pem', 'other.pem'].map((name) => folder.at(name));
  await writeFile(own ?? '', authority.rootPem);
  await writeFile(other ?? '', makePki('Other').root.pem);
  const path = folder.at('app.exe');
  const asked = [...asking('http404', 'ok'), fixture('pe/hello.exe'), '-o', path];
  const refused = await sign(asked, { CODESIGN_TIMESTAMP_ROOTS: other ?? '' });
  expect(refused.code).toBe(7);
  expect(parseJson(refused).files[0]?.error).toMatchObject({
    code: 'timestamp-failed',
    message: expect.stringContaining(`does not end at a root in ${other}`),
  });
  // The option wins. The journal has the signature.
  const signed = await sign(['--timestamp-roots', own ?? '', ...asked], { CODESIGN_TIMESTAMP_ROOTS: other ?? '' });
  const url = authority.urlOf('ok');
  expect([signed.code, JSON.parse(signed.stdout).files[0].timestampAuthority]).toEqual([0, url]);
  const again = ['timestamp', '--force', '--json', '-t', url, '--timestamp-roots', other ?? '', path];
  const untouched = await readFile(path);
  const stamped = await runCli(again);
  expect([stamped.code, parseJson(stamped).files[0]?.error?.code]).toEqual([7, 'timestamp-failed']);
  expect(await readFile(path)).toEqual(untouched);
});
