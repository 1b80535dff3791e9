/** Signed files that were forged, changed or left alone, and files of other projects: the index of each folder has the right verdict. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { type Finding, isAgainst } from '../../../src/errors/finding.ts';
import { recogniseFormat } from '../../../src/formats/recognise.ts';
import { formats } from '../../../src/formats/registry.ts';
import { runCli } from '../../support/programs/cli.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { openBytes, signBytes } from '../../unit/formats/support/sign-bytes.ts';

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

let signer: ThrowawaySigner;
beforeAll(async () => {
  signer = await makeThrowawaySigner();
});

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
      unchecked && /The publisher in the manifest, .* is not the /.test(message);
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
