/** `codesign-remote timestamp` as a user runs it, on files that others have signed, checked by osslsigncode, jarsigner and openssl. */

import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Format } from '../../../../src/format/format.ts';
import { type FoundSignature, withNested } from '../../../../src/format/signature.ts';
import { jar } from '../../../../src/formats/jar/index.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { asSoonAs } from '../../../support/children.ts';
import { type CliOptions, parseJson, runCli, snapshot } from '../../../support/programs/cli.ts';
import { verifyTimestamp } from '../../../support/programs/openssl.ts';
import { type AuthorityMode, startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { copyInto, makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { applyPatch } from '../../../unit/formats/support/apply-patch.ts';
import { stampIn } from '../../../unit/formats/support/change.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

const [files, authority] = await Promise.all([forAll(makeSignedFiles()), forAll(startTimestampAuthority())]);

const timestamp = (args: readonly string[], options: CliOptions & { mode?: AuthorityMode } = {}) =>
  runCli(['timestamp', '-t', authority.urlOf(options.mode ?? 'ok'), ...args], options);
const requests = () => authority.requests.length;
const folder = folderForEach();

async function signaturesIn(format: Format, path: string): Promise<readonly FoundSignature[]> {
  return withNested(await (await openBytes(format, await readFile(path))).signatures());
}

/** What openssl says of every timestamp in the file: each must be of its own signature's value. */
async function expectStamped(format: Format, path: string, count: number): Promise<void> {
  const signatures = await signaturesIn(format, path);
  expect(signatures).toHaveLength(count);
  for (const { value, timestamps } of signatures) {
    expect(timestamps).toHaveLength(1);
    const token = timestamps[0]?.bytes ?? new Uint8Array();
    expect(verifyTimestamp(token, value ?? new Uint8Array(), authority.rootPem)).toContain('Verification: OK');
  }
}

/** The same file with other timestamps than an authority would give. */
async function stampWith(format: Format, path: string, token: (value: Uint8Array) => Promise<Uint8Array>) {
  const bytes = await readFile(path);
  const file = await openBytes(format, bytes);
  const [signature] = await file.signatures();
  if (signature === undefined) throw new Error('the file is unsigned');
  const made = await token(signature.value ?? new Uint8Array());
  const { patch } = await stampIn(file, new Map([[signature, made]]));
  await writeFile(path, applyPatch(bytes, patch));
}

async function expectUntouched(path: string, code: string, ...args: readonly string[]): Promise<void> {
  const [before, asked] = [await snapshot(folder.path), requests()];
  const run = await timestamp([path, '--json', ...args]);
  expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, code]);
  expect([await snapshot(folder.path), requests()]).toEqual([before, asked]);
  expect(run.stderr).not.toContain('\u001b');
}

describe('a signed file', () => {
  it('gets one for each signature, nested ones too', async () => {
    const path = await copyInto(folder.path, files.nested);
    const run = await timestamp([path, '--json']);
    expect([run.code, JSON.parse(run.stdout).files[0].signatures]).toEqual([0, 2]);
    await expectStamped(pe, path, 2);
    const { accepted, output } = await files.osslsigncode(path, authority.rootPem);
    expect([accepted, output.match(/Timestamp Server Signature verification: ok/g)?.length]).toEqual([true, 2]);
  });

  it('of jarsigner gets a timestamp, and jarsigner takes it', async () => {
    const path = folder.at('stamped.jar');
    const run = await timestamp([files.jar, '-o', path, '--timestamp-algorithm', 'sha512']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    await expectStamped(jar, path, 1);
    const { accepted, output } = await files.jarsigner(path, authority.rootPem);
    expect([accepted, output]).toEqual([true, expect.stringMatching(/jar verified\./)]);
    expect(output).toContain('Test Timestamp Authority');
    expect(output).not.toMatch(/do(es)? not include a timestamp/);
  });

  it('keeps its timestamps', async () => {
    const path = await copyInto(folder.path, files.nested);
    const [before] = await signaturesIn(pe, path);
    const first = await authority.stamp(before?.value ?? new Uint8Array());
    await stampWith(pe, path, async () => first);
    expect(JSON.parse((await timestamp([path, '--json'])).stdout).files[0].signatures).toBe(1);
    const [outer] = await signaturesIn(pe, path);
    expect(Buffer.from(outer?.timestamps[0]?.bytes ?? []).equals(first)).toBe(true);
    await expectStamped(pe, path, 2);
  });
});

describe('a signature that a timestamp cannot help', () => {
  it('is by a certificate that has expired: rejected, and stamped with --force', async () => {
    const path = folder.at('app.exe');
    await files.signExe({ commonName: 'Past \u001b[31mPublisher', notAfter: new Date('2025-01-01') }, path);
    await expectUntouched(path, 'signer-expired');
    expect((await timestamp([path, '--force'])).code).toBe(0);
    await expectStamped(pe, path, 1);
  });

  it('was made with a certificate that expired after the existing timestamp: that one is kept, even with --force', async () => {
    const path = folder.at('app.exe');
    await files.signExe({ notAfter: new Date('2025-01-01') }, path);
    await stampWith(pe, path, (value) => authority.stamp(value, { genTime: '20240601120000Z' }));
    expect(JSON.parse((await timestamp([path, '--json'])).stdout).files[0].reason).toBe('already-timestamped');
    await expectUntouched(path, 'timestamp-irreplaceable', '--force');
  });

  it('has a timestamp for other content: rejected, and replaced with --force', async () => {
    const path = await copyInto(folder.path, files.exe);
    await stampWith(pe, path, () => authority.stamp(Buffer.from('something else')));
    await expectUntouched(path, 'timestamp-broken');
    expect((await timestamp([path, '--force'])).code).toBe(0);
    await expectStamped(pe, path, 1);
  });
});

it('an interruption aborts the running request, starts no other, and ends with 130', async () => {
  const paths = await Promise.all(['a.exe', 'b.exe', 'c.exe'].map((name) => copyInto(folder.path, files.exe, name)));
  const asked = requests();
  const run = await timestamp([...paths, '-j', '1', '--json'], {
    mode: 'hang',
    onStart: (kill) => asSoonAs(() => requests() > asked, kill, 'SIGINT'),
  });
  expect([run.code, parseJson(run).files.map(({ status, error }) => error?.code ?? status)]).toEqual([
    130,
    ['not-attempted', 'not-attempted', 'not-attempted'],
  ]);
  expect(requests()).toBe(asked + 1);
  expect(Object.keys(await snapshot(folder.path))).toEqual(paths);
  for (const path of paths) expect(await readFile(path)).toEqual(await readFile(files.exe));
});
