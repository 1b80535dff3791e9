/** Programs of other projects that check what this one signs. If one is missing, the test fails and says how to install it. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { PYTHON } from '../../support/programs/python.ts';

export interface Verdict {
  readonly accepted: boolean;
  readonly output: string;
}

const PACKAGES: Readonly<Record<string, string>> = {
  osslsigncode: 'osslsigncode',
  sbverify: 'sbsigntool',
  openssl: 'openssl',
  python3: 'python3 python3-olefile',
  bash: 'bash',
  cabextract: 'cabextract',
  gsf: 'libgsf-bin',
  msiinfo: 'msitools',
  pdfsig: 'poppler-utils',
  pdftoppm: 'poppler-utils',
  certutil: 'libnss3-tools',
  ps2pdf: 'ghostscript',
  groff: 'groff',
  javac: 'default-jdk-headless',
  mono: 'mono-complete',
};

/**
 * Every part of an Authenticode signature and the chain to `root` (a PEM file), by which timestamps are checked too: what it
 * says of them stands in the output alone. It does not check the PE checksum.
 */
export function osslsigncodeVerify(root: string, file: string): Promise<Verdict> {
  return run('osslsigncode', ['verify', '-CAfile', root, '-TSA-CAfile', root, '-in', file]);
}

/** As EFI firmware does: it follows the sections. `issuer` is the PEM file of the certificate that issued the signer's. */
export function sbverify(issuer: string, file: string): Promise<Verdict> {
  return run('sbverify', ['--cert', issuer, file]);
}

/** Microsoft's MSIX SDK: block map, digests, publisher, signatures of inner packages. `folder`: that of the verifiers. */
export function unpackPackage(folder: string, file: string): Promise<Verdict> {
  const command = file.endsWith('bundle') ? 'unbundle' : 'unpack';
  return run('sh', [`${folder}/msix/makemsix.sh`, command, '-p', file, '-d', `${file}.folder`, '-ac']);
}

/**
 * nuget.exe, run by mono: content, entry and attributes of the signature, without the chain, which mono cannot build to the
 * test's root, and without timestamps, all of which it rejects there (NU3030). `files`: a path, or a pattern for so many files.
 */
export async function nugetVerify(program: string, files: string, count = 1): Promise<Verdict> {
  const { output } = await run('mono', [program, 'verify', '-Signatures', files]);
  const errors = output.split('\n').filter((line) => /^NU\d+:/.test(line));
  const own = errors.filter((line) => !/^NU3030:|^NU30(12|18|28): .*found a chain building issue/.test(line));
  const verified = output.match(/^Verifying /gm) ?? [];
  return { accepted: verified.length === count && own.length === 0, output };
}

/** Runs a program to its end; throws only when it cannot be started. */
export async function run(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Verdict> {
  try {
    const options = { env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 };
    const { stdout, stderr } = await promisify(execFile)(program === 'python3' ? PYTHON : program, args, options);
    return { accepted: true, output: stdout + stderr };
  } catch (thrown) {
    const { code, stdout = '', stderr = '' } = thrown as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 'ENOENT') {
      throw new Error(`${program} is not installed: sudo apt-get install -y ${PACKAGES[program] ?? program}`);
    }
    return { accepted: false, output: stdout + stderr };
  }
}

/** What `check` says of each item, two at a time. */
export function checkAll<Item, Result>(
  items: readonly Item[],
  check: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = pLimit(2);
  return Promise.all(items.map((item) => limit(() => check(item))));
}
