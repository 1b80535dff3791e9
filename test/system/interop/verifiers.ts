/** Programs of other projects that check what this one signs. If one is missing, the test fails; .ci/run installs them. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { madeOnce } from '../../support/made-once.ts';
import { PYTHON } from '../../support/programs/python.ts';

export interface Verdict {
  readonly accepted: boolean;
  readonly output: string;
}

export const WINE = '/usr/lib/wine/wine64';

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

/**
 * WinVerifyTrust and the chain, as Wine has them; it does not examine timestamps. Each of the roots (DER) is trusted for all files.
 * @returns a verdict for each file
 */
export async function wineVerify(
  files: readonly string[],
  { roots, verifiers }: { readonly roots: readonly string[]; readonly verifiers: string },
): Promise<readonly Verdict[]> {
  const [first = ''] = roots;
  const variables = (folder: string) => ({ WINEPREFIX: join(folder, 'prefix'), WINEDEBUG: '-all', DISPLAY: '' });
  const made = await madeOnce('wine-trust', async (folder) => {
    const { CODESIGN_TEST_WINE_PREFIX: kept = '' } = process.env;
    if (existsSync(join(kept, 'ready'))) await deriveWinePrefix(kept, join(folder, 'prefix'));
    const own = { WVT_ROOT: first, WVT_PREFIX: join(folder, 'prefix'), WVT_EXE: join(folder, 'wvt.exe') };
    await run('bash', [join(verifiers, 'wvt.sh')], own);
    await run('wineserver', ['--wait'], variables(folder));
  });
  const args = [...roots.flatMap((root) => ['-root', root]), ...files];
  const { output } = await run(WINE, [join(made, 'wvt.exe'), ...args], variables(made));
  await run('wineserver', ['--wait'], variables(made));
  const verdicts = output.match(/VERDICT=.*/g) ?? [];
  if (verdicts.length !== files.length)
    throw new Error(`${verdicts.length} verdicts on ${files.length} files: ${output}`);
  return verdicts.map((verdict) => ({ accepted: verdict.trim() === 'VERDICT=TRUSTED', output: verdict }));
}

/** The prefix gets its own registry, which holds the trusted roots. Making a whole prefix takes 9 s. */
async function deriveWinePrefix(kept: string, prefix: string): Promise<void> {
  await mkdir(prefix);
  await symlink(join(kept, 'drive_c'), join(prefix, 'drive_c'));
  for (const name of ['dosdevices', 'system.reg', 'user.reg', 'userdef.reg', '.update-timestamp']) {
    await cp(join(kept, name), join(prefix, name), { recursive: true, verbatimSymlinks: true });
  }
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
  const verified = output.match(/^Verifying \S+\s*$/gm) ?? [];
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
    if (code === 'ENOENT') throw new Error(`${program} is not installed; .ci/run shows its package`, { cause: thrown });
    return { accepted: false, output: stdout + stderr };
  }
}

/** Runs a program that must accept the file. @returns its output */
export async function must(program: string, args: readonly string[]): Promise<string> {
  const { accepted, output } = await run(program, args);
  if (!accepted) throw new Error(`${program} ${args.join(' ')} failed: ${output}`);
  return output;
}

/** What `check` says of each item, two at a time. */
export function checkAll<Item, Result>(
  items: readonly Item[],
  check: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = pLimit(2);
  return Promise.all(items.map((item) => limit(() => check(item))));
}
