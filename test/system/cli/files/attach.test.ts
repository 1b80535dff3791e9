/** `codesign-remote attach` as a user runs it: signatures go out of files and come back into them. */

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pe } from '../../../../src/formats/pe/index.ts';
import {
  type CliOptions,
  fixture,
  parseJson,
  runCli,
  snapshot,
  temporaryFolder,
} from '../../../support/programs/cli.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import { pemBlock } from '../../../support/signed-files/pki.ts';
import { copyInto, makeSignedFiles, type SignedFiles } from '../../../support/signed-files/signed-files.ts';
import { unzip, zip } from '../../../unit/formats/jar/simple-zip.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

let files: SignedFiles;
/** Of app.exe, DER. */
let signature: Uint8Array;
beforeAll(async () => {
  files = await makeSignedFiles();
  const [embedded] = await (await openBytes(pe, await readFile(files.exe))).signatures();
  signature = embedded?.envelope.bytes ?? new Uint8Array();
});
afterAll(() => files[Symbol.asyncDispose]());

const attach = (args: readonly string[], options: CliOptions = {}) => runCli(['attach', ...args], options);

describe('attach', () => {
  it('embeds the signature in the unsigned program, and osslsigncode accepts it', async () => {
    await using folder = await temporaryFolder();
    const path = await copyInto(folder.path, fixture('pe/hello.exe'));
    await writeFile(join(folder.path, 'signature'), signature);
    const run = await attach(['hello.exe', 'signature', '--json'], { cwd: folder.path });
    expect([run.code, run.stderr]).toEqual([
      0,
      expect.stringMatching(/^attached +hello\.exe {2}\(signature of "Signed/),
    ]);
    expect(JSON.parse(run.stdout)).toEqual({
      files: [
        {
          path: 'hello.exe',
          output: 'hello.exe',
          format: 'pe',
          status: 'attached',
          signer: 'Signed Publisher',
          replaced: [],
          bytes: (await stat(path)).size,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          milliseconds: expect.any(Number),
          warnings: [],
        },
      ],
      summary: { attached: 1, skipped: 0, failed: 0, notAttempted: 0 },
      warnings: [],
    });
    expect(await files.osslsigncode(path)).toMatchObject({ accepted: true });
  });

  it.each(['exe', 'nested'] as const)('accepts the output of extract, from standard input too (%s)', async (name) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'again.exe');
    const extracted = await runCli(['extract', '--pem', files[name]]);
    const run = await attach([fixture('pe/hello.exe'), '-', '-o', path], { stdin: extracted.stdout });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(await files.osslsigncode(path)).toMatchObject({ accepted: true });
    const again = await runCli(['extract', '--pem', path]);
    expect(again.stdout).toBe(extracted.stdout);
  });

  it('puts the block of a JAR next to its signature file, and jarsigner accepts it', async () => {
    await using folder = await temporaryFolder();
    const bytes = await readFile(files.jar);
    const path = join(folder.path, 'app.jar');
    await writeFile(path, zip(unzip(bytes).filter(({ name }) => !name.endsWith('.RSA'))));
    const extracted = await runCli(['extract', '--pem', files.jar]);
    const run = await attach([path, '-'], { stdin: extracted.stdout });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(await files.jarsigner(path)).toMatchObject({ accepted: true });
  });

  it('says whose signature was replaced', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await files.signExe({ commonName: 'Another \u001b[31mPublisher' }, path);
    await writeFile(join(folder.path, 'signature'), signature);
    const run = await attach([path, join(folder.path, 'signature')]);
    expect([run.code, run.stdout]).toEqual([
      0,
      expect.stringContaining('replaced the signature of "Another \\x1b[31mPublisher"'),
    ]);
  });

  it.each([
    ['DER with the padding of a table', () => Buffer.concat([signature, Buffer.alloc(5)])],
    ['PEM', () => Buffer.from(pemBlock('PKCS7', signature))],
    ['PEM labelled CMS', () => Buffer.from(pemBlock('CMS', signature))],
    ['PEM as openssl writes it', () => openssl(['pkcs7', '-inform', 'DER', '-in', 'der'], { der: signature })],
    ['PEM behind text', () => Buffer.from(`subject=x\n${pemBlock('PKCS7', signature)}`)],
    ['PEM in UTF-16', () => Buffer.from(`\ufeff${pemBlock('PKCS7', signature)}`, 'utf16le')],
  ])('reads %s', async (_, contents) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'signature'), contents());
    const args = [fixture('pe/hello.exe'), 'signature', '-o', 'out.exe', '--json'];
    const run = await attach(args, { cwd: folder.path });
    expect([run.code, parseJson(run).summary]).toEqual([0, { attached: 1, skipped: 0, failed: 0, notAttempted: 0 }]);
  });

  it.each([
    ['nothing', () => Buffer.alloc(0), 'signature-file-unusable'],
    ['text', () => Buffer.from('hello'), 'signature-file-unusable'],
    ['a certificate', () => Buffer.from(files.pki.root.pem), 'signature-file-unusable'],
    ['a certificate in DER', () => files.pki.root.der, 'signature-file-unusable'],
    ['torn DER', () => signature.subarray(0, 900), 'signature-file-unusable'],
    ['DER with more behind it', () => Buffer.concat([signature, Buffer.from('more')]), 'signature-file-unusable'],
    ['two signatures', () => Buffer.from(pemBlock('CMS', signature).repeat(2)), 'signature-file-unusable'],
    ['17 MiB', () => Buffer.alloc(17 * 1024 * 1024, 0x30), 'signature-file-too-large'],
  ])('rejects %s before the file is looked at', async (_, contents, code) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'signature'), contents());
    const path = await copyInto(folder.path, fixture('pe/hello.exe'));
    const before = await snapshot(folder.path);
    const run = await attach([path, join(folder.path, 'signature'), '--json']);
    expect([run.code, parseJson(run).error?.code]).toEqual([6, code]);
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it('rejects a signature that cannot be read', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'folder'));
    for (const name of ['missing', 'folder']) {
      const run = await attach([fixture('pe/hello.exe'), join(folder.path, name), '--json']);
      expect([run.code, parseJson(run).error?.code]).toEqual([6, 'signature-file-unreadable']);
    }
  });

  it.each([
    ['another program', 'pe/library.dll', 'not-its-signature'],
    ['a JAR', 'jar/plain.jar', 'not-its-signature'],
    ['text', 'strangers/text.exe', 'unsupported-format'],
  ])('rejects a signature of a program for %s, which stays as it is', async (_, name, code) => {
    await using folder = await temporaryFolder();
    const path = await copyInto(folder.path, fixture(name));
    const before = await snapshot(folder.path);
    const run = await attach([path, '-', '--json'], { stdin: pemBlock('PKCS7', signature) });
    expect([run.code, parseJson(run).files[0]?.error?.code]).toEqual([6, code]);
    expect(await snapshot(folder.path)).toEqual(before);
  });
});
