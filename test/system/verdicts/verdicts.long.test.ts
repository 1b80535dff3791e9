/** Holds `verify` to the table of verdicts, on files made again and on those of the corpus, next to what other verifiers say. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainJava } from '../../support/programs/java.ts';
import { isInSample } from '../../support/sample.ts';
import { run, WINE } from '../interop/verifiers.ts';
import { blockGroup, corpusGroups, type Group, ownGroups, pkiGroups } from './cases.ts';
import { startVerdictPki, type VerdictPki } from './pki.ts';
import { OTHERS, type Other, type OthersWord, readVerdicts, type VerdictRow, verdictText } from './table.ts';
import { askJarCheck, askJarsigner, askOsslsigncode, askSigcheck, askWine, type Said, verifyAll } from './verifiers.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const verifiers = process.env.CODESIGN_TEST_VERIFIERS ?? '';
const CORPUS_FOLDERS = ['pe', 'pe-special', 'jar', 'jar-special'];
/** All files are made and shown to all verifiers before the first test. */
const TIMEOUT = 600_000;

const table = readVerdicts().filter(({ file }) => corpus !== '' || !isOfCorpus(file));
const rows = new Map(table.map((row) => [row.file, row]));
/** What the others are asked about: with CODESIGN_TEST_ONE_IN a part, since they say of the same files what they said before. */
const asked = new Set(
  table
    .flatMap(({ file, others }) => (others.size > 0 ? [file] : []))
    .filter((file, index) => isInSample(index, file.startsWith('stamped-') ? 1 : 2)),
);
const releases = verifiers === '' ? new Map<Other, boolean>() : await sameReleases();

let folder: string;
let pki: VerdictPki;
let checked: readonly VerdictRow[];

describe.skipIf(verifiers === '')('verify', () => {
  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'codesign-verdicts-'));
    pki = await startVerdictPki(path.join(folder, 'pki'), verifiers);
    const groups = [
      ...(corpus === '' ? [] : await corpusGroups(corpus, folder)),
      ...(await pkiGroups(folder, pki, verifiers)),
      ...(await ownGroups(folder, pki, verifiers)),
      blockGroup(folder),
    ];
    checked = await askAll(groups);
  }, TIMEOUT);
  afterAll(() => {
    pki?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  });

  it('verifies every file of the table, and no other', () => {
    expect(checked.map(({ file }) => file).sort()).toEqual([...rows.keys()].sort());
  });

  it('gives the right verdict and reason for each file', () => {
    expect(ownWords(checked)).toEqual(ownWords(table));
  });

  // Another release may say another thing; the table was written with these.
  describe.each(OTHERS)('next to %s', (other) => {
    it.skipIf(releases.get(other) === false)('finds it saying what the table has it say', () => {
      expect(theirWords(checked, other)).toEqual(theirWords(table, other));
    });
  });
});

/** Rows as all checks would write them. */
async function askAll(groups: readonly Group[]): Promise<VerdictRow[]> {
  const others = await askOthers(groups);
  const rows: VerdictRow[] = [];
  for (const { files, roots } of groups) {
    const own = await verifyAll([...files.values()], roots);
    for (const [file, place] of files) {
      const words = others.flatMap(([other, said]) => {
        const word = said.get(place);
        return word === undefined ? [] : [[other, word] as const];
      });
      rows.push({ file, right: '', findings: [], ...own.get(place), others: new Map(words), why: '' });
    }
  }
  return rows;
}

async function askOthers(groups: readonly Group[]): Promise<[Other, Said<OthersWord>][]> {
  const where = { folder, verifiers };
  const questions = groups
    .map(({ kind, files, roots }) => ({
      kind,
      files: [...files].flatMap(([name, place]) => (asked.has(name) ? [place] : [])),
      roots,
    }))
    .filter(({ files }) => files.length > 0);
  const [programs, archives] = ['pe', 'jar'].map((wanted) => questions.filter(({ kind }) => kind === wanted));
  const said: [Other, Said<OthersWord>][] = [];
  for (const question of programs ?? []) {
    said.push(['osslsigncode', await askOsslsigncode(question)], ['sigcheck', await askSigcheck(question, verifiers)]);
  }
  for (const question of archives ?? []) said.push(['JarCheck', await askJarCheck(question, where)]);
  said.push(['jarsigner', await askJarsigner(archives ?? [], folder)]);
  if (existsSync(WINE)) said.push(['Wine', await askWine(programs ?? [], where)]);
  return said;
}

function isOfCorpus(file: string): boolean {
  return CORPUS_FOLDERS.includes(file.split('/')[0] ?? '');
}

function ownWords(from: readonly VerdictRow[]): Readonly<Record<string, string>> {
  return Object.fromEntries(from.map((row) => [row.file, verdictText(row)]));
}

function theirWords(from: readonly VerdictRow[], other: Other): Readonly<Record<string, string>> {
  return Object.fromEntries(
    from.flatMap(({ file, others }) => {
      const word = asked.has(file) ? others.get(other) : undefined;
      return word === undefined ? [] : [[file, word]];
    }),
  );
}

/** Whether the installed releases are those that the table names. */
async function sameReleases(): Promise<Map<Other, boolean>> {
  const { output: osslsigncode } = await run('osslsigncode', ['--version']);
  const wine = existsSync(WINE) ? (await run(WINE, ['--version'])).output : '';
  const isSameJava = mainJava().release === 17;
  return new Map<Other, boolean>([
    ['osslsigncode', /^osslsigncode 2\.9\b/m.test(osslsigncode)],
    ['sigcheck', true],
    ['Wine', /^wine-8\./m.test(wine)],
    ['jarsigner', isSameJava],
    ['JarCheck', isSameJava],
  ]);
}
