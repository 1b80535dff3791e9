/**
 * The corpus and peculiar files that are made, through the command line and the server on SoftHSM: signed with a timestamp or
 * rejected as the tables say, and what is signed is accepted by programs that are not ours.
 */

import { readdirSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';
import { scriptKindOf } from '../../../../src/formats/script/kinds.ts';
import { parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../../../support/programs/java.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { filesBelow } from '../../../unit/formats/support/fixtures.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';
import { checkAll, nugetVerify, osslsigncodeVerify, run, unpackPackage, type Verdict } from '../verifiers.ts';
import { readSpecialFiles } from './special-files.ts';
import { MADE } from './special-samples.ts';

const {
  CODESIGN_TEST_CORPUS: corpus = '',
  CODESIGN_TEST_VERIFIERS: verifiers = '',
  CODESIGN_TEST_NUGET: nugetProgram = '',
} = process.env;
const checker = (name: string) => path.join(verifiers, 'formats', name);
/** Writes what the signature of a connection file covers, and its CMS, next to it. */
const CONNECTION_CONTENT = fileURLToPath(new URL('../../../unit/formats/rdp/content.py', import.meta.url));
/** Compares the digest in the signature of an extension with the file. */
const EXTENSION_CHECK = fileURLToPath(new URL('../../../unit/formats/navx/check.py', import.meta.url));

interface Special {
  readonly table: string;
  readonly folders: readonly string[];
  readonly extensions: RegExp;
  /** A folder with files that the table does not list, each of which is signed. */
  readonly usual?: string;
  /** Ask other programs about signed files. */
  readonly checks: readonly ((files: readonly string[]) => Promise<readonly Verdict[]>)[];
}

/** It digests cabinets of sets wrongly, rejects reserved areas that are not exactly its own, and leaves gaps of packages out. */
const NOT_FOR_OSSLSIGNCODE =
  /\/((sizes|small|exact|large|block1|set|first-of-set|last-of-set|set-with-reserve)\.cab|gap\.msix)$/;
/** It knows SHA-256 alone, and compares bundles with a longer manifest than the made ones have. */
const NOT_FOR_SDK = /\/sha\d+\.msix$|bundle$/;
const isPowershell = (file: string) => scriptKindOf(file)?.family === 'powershell';

const each =
  (check: (file: string) => Promise<Verdict>, isFor = (_file: string) => true) =>
  (files: readonly string[]) =>
    checkAll(files.filter(isFor), check);

/** A checker of the verifiers, one process for all files. */
const checkedBy =
  (name: string, isFor = (_file: string) => true) =>
  async (files: readonly string[]) => [await run('python3', [checker(name), ...files.filter(isFor)])];

const osslsigncode = async (file: string): Promise<Verdict> => {
  const { accepted, output } = await osslsigncodeVerify(root, file);
  // A bad timestamp alone does not make it refuse the file.
  const isStamped = output.includes('Timestamp Server Signature verification: ok');
  return { accepted: accepted && isStamped, output: `${file}: ${output}` };
};

const SPECIALS: readonly Special[] = [
  {
    table: 'pe-special',
    folders: ['pe', 'pe-special'],
    usual: 'pe',
    // An ELF.
    extensions: /(?<!\.stub)$/,
    checks: [each(osslsigncode)],
  },
  { table: 'jar-special', folders: ['jar', 'jar-special'], usual: 'jar', extensions: /$/, checks: [jarsigner] },
  {
    table: 'script-special',
    folders: ['ps1', 'ps1-special'],
    extensions: /\.(ps1|psm1|vbs|wsf)$/,
    checks: [
      each(cmsVerdict),
      checkedBy('pscheck.py', isPowershell),
      checkedBy('wshcheck.py', (file) => !isPowershell(file)),
      // It knows neither Windows Script Host nor psc1, cdxml and mof.
      each(osslsigncode, (file) => /\.ps(1|m1|d1|1xml)$/i.test(file)),
    ],
  },
  {
    table: 'msi-special',
    folders: ['msi', 'pkg-special'],
    extensions: /\.ms[ipt]$/,
    checks: [
      each(cmsVerdict),
      checkedBy('msicheck.py'),
      each(osslsigncode),
      each((file) => run('gsf', ['list', file])),
      // The made ones hold no database.
      each(
        (file) => run('msiinfo', ['suminfo', file]),
        (file) => path.basename(file).startsWith('made__'),
      ),
    ],
  },
  {
    table: 'cab-special',
    folders: ['cab', 'pkg-special'],
    extensions: /\.cab$/,
    checks: [
      each(cmsVerdict),
      checkedBy('cabcheck.py'),
      each(sameFiles),
      each(osslsigncode, (file) => !NOT_FOR_OSSLSIGNCODE.test(file)),
    ],
  },
  {
    table: 'cat-special',
    folders: ['pkg-special'],
    extensions: /\.cat$/,
    checks: [each(osslsigncode), each(cmsVerdict)],
  },
  {
    table: 'rdp-special',
    folders: ['pkg-special'],
    extensions: /\.rdp$/,
    checks: [each((file) => run('python3', [CONNECTION_CONTENT, file])), each(detachedVerdict)],
  },
  {
    table: 'nuget-special',
    folders: ['nuget', 'pkg-special'],
    extensions: /nupkg$/,
    checks: [each(cmsVerdict), checkedBy('nupkgcheck.py'), ...(nugetProgram === '' ? [] : [nugetVerdict])],
  },
  {
    table: 'appx-special',
    folders: ['appx', 'pkg-special'],
    extensions: /\.(msix|appx)$/,
    checks: [
      each(cmsVerdict),
      checkedBy('appxcheck.py'),
      each(osslsigncode, (file) => !NOT_FOR_OSSLSIGNCODE.test(file)),
      each(
        (file) => unpackPackage(verifiers, file),
        (file) => !NOT_FOR_SDK.test(file),
      ),
    ],
  },
  {
    table: 'navx-special',
    folders: [],
    extensions: /\.app$/,
    checks: [each(cmsVerdict), each((file) => run('python3', [EXTENSION_CHECK, file]))],
  },
];

const server = await forAll(useServer({ tsa: true }));
const root = server.roots;

describe.skipIf(corpus === '' || verifiers === '').each(SPECIALS)('the files of $table', (special) => {
  it('are signed or rejected as the table says, and other programs accept what is signed', async () => {
    await using folder = await temporaryFolder('codesign-special-');
    const files = await inputsOf(special, folder.path);
    const nameOf = (file: string) => path.relative(folder.path, file).replaceAll(path.sep, '/');
    const before = new Map<string, Buffer>();
    for (const file of files) {
      before.set(file, await readFile(file));
      await copyFile(file, `${file}.before`);
    }
    const requests = server.operations('sign').length;

    const run = await runCli(['sign', '--json', '--wsh', '--replace', '-'], {
      env: server.env,
      stdin: files.join('\n'),
    });
    const outcomes = parseJson(run).files;
    const results = outcomes.map((each) => [nameOf(each.path), each.error?.code ?? each.status]);
    expect(Object.fromEntries(results)).toEqual(expectedOf(special));
    const signed = outcomes.filter(({ status }) => status === 'signed').map((each) => each.path);
    const records = new Set(outcomes.flatMap(({ record }) => record ?? []));
    expect(server.operations('sign').slice(requests)).toHaveLength(records.size);
    for (const file of files.filter((each) => !signed.includes(each))) {
      expect(await readFile(file)).toEqual(before.get(file));
    }

    const own = await runCli(['verify', '--quiet', '--require-timestamp', '--roots', root, ...signed]);
    expect(own).toMatchObject({ code: 0, stdout: '' });
    for (const check of special.checks) {
      const verdicts = await check(signed);
      expect(verdicts.flatMap(({ accepted, output }) => (accepted ? [] : output))).toEqual([]);
    }
  });
});

/** File → `signed`, or the code with which it is rejected. */
function expectedOf({ table, usual, extensions }: Special): Readonly<Record<string, string>> {
  const names =
    usual === undefined ? [] : readdirSync(path.join(corpus, usual)).filter((name) => extensions.test(name));
  const rows = readSpecialFiles(table).map(({ file, code }) => [
    file.includes('/') ? file : `corpus/${file}`,
    code ?? 'signed',
  ]);
  return Object.fromEntries([...names.map((name) => [`corpus/${name}`, 'signed']), ...rows]);
}

/** Writes the files into `corpus` and `made` below the folder. */
async function inputsOf({ table, folders, extensions }: Special, folder: string): Promise<readonly string[]> {
  const sources = {
    corpus: folders.flatMap((each) => filesBelow(path.join(corpus, each), (name) => extensions.test(name))),
    made: MADE[table] ?? [],
  };
  const files: string[] = [];
  for (const [kind, samplesOf] of Object.entries(sources)) {
    await mkdir(path.join(folder, kind));
    for (const { name, bytes } of samplesOf) {
      const file = path.join(folder, kind, path.basename(name));
      await writeFile(file, bytes);
      files.push(file);
    }
  }
  return files;
}

/** cabextract unpacks all files of the signed cabinet, with the digests that they had before. */
async function sameFiles(file: string): Promise<Verdict> {
  const [before, after] = [await run('cabextract', ['-t', `${file}.before`]), await run('cabextract', ['-t', file])];
  const digests = ({ output }: Verdict) => output.match(/\b[0-9a-f]{32}\b/g)?.join();
  const isSame = digests(before) !== undefined && digests(before) === digests(after);
  return { accepted: after.accepted && isSame, output: after.output };
}

/** OpenSSL checks digest, signature and chain of the CMS; the other programs compare its content with the file. */
async function cmsVerdict(file: string): Promise<Verdict> {
  const bytes = await readFile(file);
  const format = await recogniseFormat(memorySource(bytes), [file], { formats });
  const [signature] = await (await openBytes(format, bytes, file)).signatures();
  const [cms, content] = [`${file}.cms`, `${file}.content`];
  const { bytes: whole, content: element } = parseSignedData(signature?.envelope.bytes ?? Buffer.of());
  await writeFile(cms, whole);
  await writeFile(content, element?.contents ?? '');
  return verifiedByOpenssl('smime', cms, content);
}

/** Chain and timestamp of the first file; jar-corpus.long.test.ts has Java read all of them. */
async function jarsigner([file = '']: readonly string[]): Promise<readonly Verdict[]> {
  const store = makeTruststore(await readFile(root, 'utf8'), path.dirname(file));
  const { output } = await jarsignerVerify(mainJava(), store, file);
  return [{ accepted: /^jar verified\./m.test(output) && /Timestamped by ".*" on /.test(output), output }];
}

/** mono takes more than a second to start: it is given a folder with copies of all files. */
async function nugetVerdict(files: readonly string[]): Promise<readonly Verdict[]> {
  await using folder = await temporaryFolder();
  for (const [index, file] of files.entries()) {
    await copyFile(file, path.join(folder.path, `${index}-${path.parse(file).name}.nupkg`));
  }
  return [await nugetVerify(nugetProgram, path.join(folder.path, '*.nupkg'), files.length)];
}

/** After `CONNECTION_CONTENT`. */
function detachedVerdict(file: string): Promise<Verdict> {
  return verifiedByOpenssl('cms', `${file}.cms`, `${file}.content`);
}

async function verifiedByOpenssl(command: 'cms' | 'smime', cms: string, content: string): Promise<Verdict> {
  const what = ['-verify', '-binary', '-inform', 'DER', '-in', cms, '-content', content, '-out', '/dev/null'];
  const { accepted, output } = await run('openssl', [command, ...what, '-purpose', 'any', '-CAfile', root]);
  return { accepted, output: `${cms}: ${output}` };
}
