/**
 * Peculiar scripts, installer files, cabinets, catalogs, connection files, packages and extensions, of the corpus and made ones, through the command line and the server on
 * SoftHSM: signed with a timestamp or rejected as the tables say, and what is signed is accepted by programs that are not ours.
 */

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';
import { scriptKindOf } from '../../../../src/formats/script/kinds.ts';
import { parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { filesBelow } from '../../../unit/formats/support/fixtures.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';
import { checkAll, nugetVerify, osslsigncodeVerify, run, unpackPackage, type Verdict } from '../verifiers.ts';
import { appxSamples, extensionSamples } from './package-samples.ts';
import { readSpecialFiles, type SpecialFolder } from './special-files.ts';
import {
  cabinetSamples,
  catalogSamples,
  connectionSamples,
  installerSamples,
  nugetSamples,
  type SpecialSample,
  scriptSamples,
} from './special-samples.ts';

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
  readonly table: SpecialFolder;
  readonly folders: readonly string[];
  readonly extensions: RegExp;
  samples(): Promise<readonly SpecialSample[]>;
  /** What programs of others say of a signed file. */
  check(file: string): Promise<readonly Verdict[]>;
}

/** It digests cabinets of sets wrongly, rejects reserved areas that are not exactly its own, and leaves gaps of packages out. */
const NOT_FOR_OSSLSIGNCODE =
  /\/((sizes|small|exact|large|block1|set|first-of-set|last-of-set|set-with-reserve)\.cab|gap\.msix)$/;
/** It knows SHA-256 alone, and compares bundles with a longer manifest than the made ones have. */
const NOT_FOR_SDK = /\/sha\d+\.msix$|bundle$/;

const osslsigncode = async (file: string): Promise<Verdict> => {
  const verdict = await osslsigncodeVerify(root, file);
  // A bad timestamp alone does not make it refuse the file.
  const isStamped = verdict.output.includes('Timestamp Server Signature verification: ok');
  return { ...verdict, accepted: verdict.accepted && isStamped };
};

const SPECIALS: readonly Special[] = [
  {
    table: 'script-special',
    folders: ['ps1', 'ps1-special'],
    extensions: /\.(ps1|psm1|vbs|wsf)$/,
    samples: scriptSamples,
    check: async (file) => [
      await cmsVerdict(file),
      await run('python3', [checker(scriptKindOf(file)?.family === 'powershell' ? 'pscheck.py' : 'wshcheck.py'), file]),
      // It knows neither Windows Script Host nor psc1, cdxml and mof.
      ...(/\.ps(1|m1|d1|1xml)$/i.test(file) ? [await osslsigncode(file)] : []),
    ],
  },
  {
    table: 'msi-special',
    folders: ['msi', 'pkg-special'],
    extensions: /\.ms[ipt]$/,
    samples: installerSamples,
    check: async (file) => [
      await cmsVerdict(file),
      await run('/usr/bin/python3', [checker('msicheck.py'), file]),
      await osslsigncode(file),
      await run('gsf', ['list', file]),
      // The made ones hold no database.
      ...(path.basename(file).startsWith('made__') ? [await run('msiinfo', ['suminfo', file])] : []),
    ],
  },
  {
    table: 'cab-special',
    folders: ['cab', 'pkg-special'],
    extensions: /\.cab$/,
    samples: cabinetSamples,
    check: async (file) => [
      await cmsVerdict(file),
      await run('python3', [checker('cabcheck.py'), file]),
      await sameFiles(file),
      ...(NOT_FOR_OSSLSIGNCODE.test(file) ? [] : [await osslsigncode(file)]),
    ],
  },
  {
    table: 'cat-special',
    folders: ['pkg-special'],
    extensions: /\.cat$/,
    samples: catalogSamples,
    check: async (file) => [await osslsigncode(file), await cmsVerdict(file)],
  },
  {
    table: 'rdp-special',
    folders: ['pkg-special'],
    extensions: /\.rdp$/,
    samples: connectionSamples,
    check: async (file) => [await run('python3', [CONNECTION_CONTENT, file]), await detachedVerdict(file)],
  },
  {
    table: 'nuget-special',
    folders: ['nuget', 'pkg-special'],
    extensions: /nupkg$/,
    samples: nugetSamples,
    check: async (file) => [
      await cmsVerdict(file),
      await run('python3', [checker('nupkgcheck.py'), file]),
      ...(nugetProgram === '' ? [] : [await nugetVerify(nugetProgram, file)]),
    ],
  },
  {
    table: 'appx-special',
    folders: ['appx', 'pkg-special'],
    extensions: /\.(msix|appx)$/,
    samples: appxSamples,
    check: async (file) => [
      await cmsVerdict(file),
      await run('python3', [checker('appxcheck.py'), file]),
      ...(NOT_FOR_OSSLSIGNCODE.test(file) ? [] : [await osslsigncode(file)]),
      ...(NOT_FOR_SDK.test(file) ? [] : [await unpackPackage(verifiers, file)]),
    ],
  },
  {
    table: 'navx-special',
    folders: [],
    extensions: /\.app$/,
    samples: extensionSamples,
    check: async (file) => [await cmsVerdict(file), await run('python3', [EXTENSION_CHECK, file])],
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
    expect(Object.fromEntries(outcomes.map((each) => [nameOf(each.path), each.error?.code ?? each.status]))).toEqual(
      Object.fromEntries(readSpecialFiles(special.table).map(({ file, code }) => [file, code ?? 'signed'])),
    );
    const signed = outcomes.filter(({ status }) => status === 'signed').map((each) => each.path);
    const records = new Set(outcomes.flatMap(({ record }) => record ?? []));
    expect(server.operations('sign').slice(requests)).toHaveLength(records.size);
    for (const file of files.filter((each) => !signed.includes(each))) {
      expect(await readFile(file)).toEqual(before.get(file));
    }

    const own = await runCli(['verify', '--quiet', '--require-timestamp', '--roots', root, ...signed]);
    expect(own).toMatchObject({ code: 0, stdout: '' });
    const verdicts = await checkAll(signed, special.check);
    const complaints = verdicts.flatMap((each, index) =>
      each.filter(({ accepted }) => !accepted).map(({ output }) => `${nameOf(signed[index] ?? '')}: ${output}`),
    );
    expect(complaints).toEqual([]);
  });
});

/** Writes the files into `corpus` and `made` below the folder. */
async function inputsOf({ folders, extensions, samples }: Special, folder: string): Promise<readonly string[]> {
  const sources = {
    corpus: folders.flatMap((each) => filesBelow(path.join(corpus, each), (name) => extensions.test(name))),
    made: await samples(),
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

async function cmsVerdict(file: string): Promise<Verdict> {
  const bytes = await readFile(file);
  const format = await recogniseFormat(memorySource(bytes), [file], { formats });
  const [signature] = await (await openBytes(format, bytes, file)).signatures();
  const cms = `${file}.cms`;
  await writeFile(cms, signature?.envelope.bytes ?? '');
  return run('bash', [checker('cmscheck.sh'), cms, root]);
}

/** After `CONNECTION_CONTENT`. */
function detachedVerdict(file: string): Promise<Verdict> {
  const files = ['-in', `${file}.cms`, '-content', `${file}.content`, '-CAfile', root];
  return run('openssl', [
    'cms',
    '-verify',
    '-binary',
    '-inform',
    'DER',
    '-purpose',
    'any',
    ...files,
    '-out',
    '/dev/null',
  ]);
}
