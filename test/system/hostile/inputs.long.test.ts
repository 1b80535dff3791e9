/** Inputs that are no files, or files of roots, CRLs and signatures made to exhaust: rejected with a code, soon. */

import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { encode, objectIdentifier, sequence } from '../../../src/asn1/write.ts';
import { fixture } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { folderForEach } from '../../support/set-up.ts';
import { pemBlock, toP7b } from '../../support/signed-files/pki.ts';
import { expectBounded, expectSane, runBounded } from './bounds.ts';
import { repeated, signer } from './cases.ts';

const PROGRAM = fixture('golden/sha256-rsa2048.exe');
const folder = folderForEach();

async function refused(args: readonly string[], exitCode: number, code: string): Promise<void> {
  const { stdout, stderr } = await runBounded(args, [exitCode]);
  expect(stdout + stderr).toContain(code);
}

it.each(['verify', 'inspect', 'extract', 'remove'])(
  '%s rejects a pipe, an endless device and a folder',
  async (command) => {
    execFileSync('mkfifo', [folder.at('pipe')]);
    for (const path of [folder.at('pipe'), '/dev/zero']) await refused([command, path], 6, 'not-a-file');
    const many = ['verify', 'remove'].includes(command);
    await refused([command, folder.path], many ? 2 : 6, many ? 'folder-not-recursive' : 'not-a-file');
  },
);

describe('extract rejects as a number of a signature', () => {
  it.each([
    ['0', 'index-invalid'],
    ['9'.repeat(10_000), 'index-invalid'],
    ['999999', 'index-out-of-range'],
  ])('%.20s', (index, code) => refused(['extract', PROGRAM, `--index=${index}`], 2, code));
});

const inDepth = (levels: number) => () => repeated(levels, Buffer.from('3080', 'hex'));

describe('verify rejects a file of roots', () => {
  const files: Readonly<Record<string, () => string | Uint8Array>> = {
    'of dashes': () => `-----BEGIN CERTIFICATE-----${'-'.repeat(4_000_000)}`,
    'whose label never ends': () => `-----BEGIN ${'A '.repeat(2_000_000)}`,
    'in DER of endless depth': inDepth(2_000_000),
    'in PKCS#7 with 60,000 that are none': () => toP7b([repeated(60_000, sequence(Buffer.from('0500', 'hex')))]),
  };
  it.each(Object.entries(files))('%s', async (_, make) => {
    await writeFile(folder.at('roots'), make());
    await refused(['verify', PROGRAM, '--roots', folder.at('roots'), '--json'], 2, 'roots-un');
  });

  it('with endless content', () => refused(['verify', PROGRAM, '--roots', '/dev/zero'], 2, 'roots-unreadable'));

  it('but not one of 2,000 certificates', async () => {
    await writeFile(folder.at('roots'), pemBlock('CERTIFICATE', signer.der).repeat(2000));
    const { stdout } = await runBounded(['verify', PROGRAM, '--roots', folder.at('roots'), '--json'], [8]);
    expect(JSON.parse(stdout)).toMatchObject({ files: [{ verdict: 'untrusted' }] });
  });
});

describe('verify rejects a file of CRLs', () => {
  const algorithm = sequence(objectIdentifier('1.2.840.113549.1.1.11'));
  const list = sequence(algorithm, sequence(), encode(0x17, Buffer.from('200101000000Z')));
  const smallest = sequence(list, algorithm, encode(0x03, Buffer.alloc(1)));
  const files: Readonly<Record<string, () => string | Uint8Array>> = {
    'of a million BEGIN lines': () => `${'-----BEGIN X509 CRL-----\n'.repeat(1_000_000)}-----END X509 CRL-----\n`,
    'of 100,000 CRLs': () => pemBlock('X509 CRL', smallest).repeat(100_000),
    'in DER of endless depth': inDepth(10_000_000),
  };
  it.each(Object.entries(files))('%s', async (_, make) => {
    await writeFile(folder.at('crls'), make());
    await refused(['verify', PROGRAM, '--crl-file', folder.at('crls'), '--json'], 2, 'crl-file-unusable');
  });

  it('with endless content', () => refused(['verify', PROGRAM, '--crl-file', '/dev/zero'], 2, 'crl-file-unreadable'));
});

describe('attach rejects a signature', () => {
  const stdin: Readonly<Record<string, () => string>> = {
    'of no bytes': () => '',
    'of 60 MB': () => 'A'.repeat(60_000_000),
    'in a hundred thousand blocks': () => '-----BEGIN PKCS7-----\n-----END PKCS7-----\n'.repeat(100_000),
    'of endless depth': () => '\x30\x24'.repeat(4_000_000),
  };
  it.each(Object.entries(stdin))('%s', async (_, make) => {
    const args = ['attach', PROGRAM, '-', '--json', '--output', '/nowhere/at/all'];
    const run = await runMeasured(args, { stdin: make() });
    expectSane(run, [6]);
    expect(run.stdout).toContain('"code": "signature-file-');
    expectBounded(run);
  });

  it('with endless content', () =>
    refused(['attach', PROGRAM, '/dev/zero', '--output', '/nowhere'], 6, 'signature-file-unreadable'));
});
