/** Signed files that were forged, changed or left alone, and files of other projects: the index of each folder has the right verdict. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { type Finding, isAgainst } from '../../../src/errors/finding.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';
import { cellsOf } from '../../documentation/command-blocks.ts';
import { runCli } from '../../support/programs/cli.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { openBytes, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { osslsigncodeVerify, run } from '../interop/verifiers.ts';

const VERDICTS = process.env.CODESIGN_TEST_VERDICTS ?? '';
const PEERS = process.env.CODESIGN_TEST_PEERS ?? '';

interface Forgery {
  readonly file: string;
  readonly expected: 'accept' | 'refuse';
  readonly options: readonly string[];
  readonly why: string;
  /** Code that must be visible although the file is accepted. */
  readonly mustWarn?: string;
  /** A visible warning is enough. */
  readonly orWarning?: boolean;
  /** The verdict "unsupported", or an error, is right too. */
  readonly orError?: boolean;
}

interface Peer {
  readonly file: string;
  readonly does: 'signs' | 'verifies' | 'refuses';
  readonly expect: string;
}

function indexOf<Row>(folder: string): readonly Row[] {
  return folder === '' ? [] : JSON.parse(readFileSync(path.join(folder, 'index.json'), 'utf8'));
}

describe.skipIf(VERDICTS === '')('verify', () => {
  it.each(indexOf<Forgery>(VERDICTS))('must $expected $file: $why', async (row) => {
    const options = row.options.map((option) => (option.startsWith('-') ? option : path.join(VERDICTS, option)));
    const file = path.join(VERDICTS, row.file);
    const { code, stdout, stderr } = await runCli([
      'verify',
      '--roots',
      path.join(VERDICTS, 'root.pem'),
      ...options,
      file,
    ]);
    const output = stdout + stderr;
    const isAccepted = code === 0;
    if (row.expected === 'refuse' && row.orWarning && isAccepted) expect(output).toMatch(/\[[a-z-]+\]/);
    else if (row.orError && !isAccepted) expect(output).toMatch(/^(unsupported|error)\b/m);
    else expect({ isAccepted, output }).toEqual({ isAccepted: row.expected === 'accept', output });
    if (row.mustWarn !== undefined) expect(output).toContain(`[${row.mustWarn}]`);
  });
});

/** Those that can check a file of this kind, and how they are called. Without a line they are not asked. */
const OTHERS: readonly (readonly [name: string, kinds: RegExp, ask: (file: string) => Promise<string>])[] = [
  ['qpdf', /\.pdf$/, async (file) => ((await run('qpdf', ['--check', file])).accepted ? 'yes' : 'no')],
  [
    'pdfsig',
    /\.pdf$/,
    async (file) => {
      const { output } = await run('pdfsig', ['-nocert', file]);
      const found = output
        .split(/^Signature #/m)
        .slice(1)
        .filter((each) => !each.includes('is not signed'));
      return found.length > 0 && found.every((each) => each.includes('Signature is Valid')) ? 'yes' : 'no';
    },
  ],
  [
    'osslsigncode',
    /\.(?:exe|cab|msi|cat|msix|ps1|vbs|js)$/,
    async (file) => ((await osslsigncodeVerify(path.join(VERDICTS, 'root.pem'), file)).accepted ? 'yes' : 'no'),
  ],
  ['jarsigner', /\.jar$/, async (file) => ((await run('jarsigner', ['-verify', file])).accepted ? 'yes' : 'no')],
];

/** The rows of forgeries.md: file, verdict, and the words of the others. */
const TABLE = readFileSync(new URL('forgeries.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| \S+\/\S+ \|/.test(line))
  .map(cellsOf);

describe.skipIf(VERDICTS === '')('the table of other verifiers', () => {
  it('lists every file, and a reason if another verifier differs', () => {
    expect(TABLE.map(([file]) => file)).toEqual(indexOf<Forgery>(VERDICTS).map(({ file }) => file));
    for (const [file, right, ...rest] of TABLE) {
      const differs = rest.slice(0, -1).some((word) => word !== '' && (word === 'yes') !== (right === 'trusted'));
      expect({ file, isExplained: rest.at(-1) !== '' }).toEqual({ file, isExplained: differs });
    }
  });

  it.each(TABLE)('%s is %s', async (file, ...cells) => {
    for (const [index, [name, kinds, ask]] of OTHERS.entries()) {
      const isAsked = kinds.test(file ?? '') && cells[index + 1] !== '';
      if (isAsked)
        expect(`${name}: ${await ask(path.join(VERDICTS, file ?? ''))}`).toBe(`${name}: ${cells[index + 1]}`);
    }
  });
});

const signer = await makeThrowawaySigner();

/** What `sign` makes of the file: `signed` if the result is intact, otherwise the code of the error. The publisher may be another one. */
async function signPeer(file: string, unchecked = false): Promise<string> {
  const bytes = readFileSync(path.join(PEERS, file));
  const name = path.basename(file);
  try {
    const format = await recogniseFormat(memorySource(bytes), [name], { formats });
    const { result } = await signBytes(format, bytes, signer, { name, innerPackages: true, unchecked });
    const opened = await openBytes(format, result, name);
    const findings = [...(await opened.examine())];
    for (const signature of await opened.signatures()) findings.push(...(await signature.examine()));
    const isOfPublisher = ({ message }: Finding) =>
      unchecked && /[Tt]he publisher in the manifest \(.*\) differs from the /.test(message);
    const objections = findings.filter((finding) => isAgainst(finding, 'integrity') && !isOfPublisher(finding));
    expect(objections).toEqual([]);
    return 'signed';
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return thrown.code === 'appx-publisher-differs' ? signPeer(file, true) : thrown.code;
  }
}

describe.skipIf(PEERS === '')('a file of another project', () => {
  const peers = indexOf<Peer>(PEERS);

  it.each(peers.filter(({ does }) => does === 'verifies'))('$file is $expect', async (row) => {
    const { stdout } = await runCli(['verify', '--json', path.join(PEERS, row.file)]);
    const [{ verdict }] = JSON.parse(stdout).files;
    if (row.expect === 'intact') expect(['trusted', 'untrusted']).toContain(verdict);
    else expect(['broken', 'unsupported']).toContain(verdict);
  });

  it.each(peers.filter(({ does }) => does === 'signs'))('$file: sign $expect', async ({ file }) => {
    expect(await signPeer(file)).toBe('signed');
  });

  it.each(peers.filter(({ does }) => does === 'refuses'))('$file: sign $expect', async ({ file, expect: code }) => {
    const outcome = await signPeer(file);
    if (code === 'unsupported-format') expect(outcome).toBe(code);
    else expect(outcome).not.toBe('signed');
  });
});
