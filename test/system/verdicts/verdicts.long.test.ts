/** Holds `verify` to the table of verdicts, on files made again and on those of the corpus, next to what other verifiers say. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainJava } from '../../support/programs/java.ts';
import { isInSample } from '../../support/sample.ts';
import { run } from '../interop/verifiers.ts';
import { blockGroup, corpusGroups, type Group, ownGroups, pkiGroups } from './cases.ts';
import { startVerdictPki, type VerdictPki } from './pki.ts';
import { OTHERS, type Other, type OthersWord, readVerdicts, type VerdictRow, verdictText } from './table.ts';
import {
  askJarCheck,
  askJarsigner,
  askOsslsigncode,
  askSigcheck,
  askWine,
  type Said,
  verifyAll,
  WINE,
} from './verifiers.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';
const verifiers = process.env.CODESIGN_TEST_VERIFIERS ?? '';
const CORPUS_FOLDERS = ['pe', 'pe-special', 'jar', 'jar-special'];
/** All files are made and shown to all verifiers before the first test. */
const TIMEOUT = 600_000;

const table = readVerdicts().filter(({ file }) => corpus !== '' || !isOfCorpus(file));
const rows = new Map(table.map((row) => [row.file, row]));
/** What the others are asked about: with CODESIGN_TEST_ONE_IN a part, since they say of the same files what they said before. */
const asked = new Set(
  table.flatMap(({ file, others }) => (others.size > 0 ? [file] : [])).filter((_, index) => isInSample(index)),
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
    const all: VerdictRow[] = [];
    for (const [index, group] of groups.entries())
      all.push(...(await askAll(group, path.join(folder, `trust-${index}`))));
    checked = all;
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

  it('trusts an expired certificate with a timestamp of its lifetime, and without one does not', () => {
    const verdicts = new Map(checked.map(({ file, right }) => [file, right]));
    for (const [kind, extension] of [
      ['signed-pe', 'exe'],
      ['signed-jar', 'jar'],
    ]) {
      expect(verdicts.get(`${kind}/leafexp+past2024.${extension}`)).toBe('trusted');
      expect(verdicts.get(`${kind}/leafexp.${extension}`)).toBe('untrusted');
    }
  });

  // Another release may say another thing; the table was written with these.
  describe.each(OTHERS)('next to %s', (other) => {
    it.skipIf(releases.get(other) === false)('finds it saying what the table has it say', () => {
      expect(theirWords(checked, other)).toEqual(theirWords(table, other));
    });
  });
});

/** Rows as all checks would write them. */
async function askAll({ kind, files, roots }: Group, scratch: string): Promise<VerdictRow[]> {
  const own = await verifyAll([...files.values()], roots);
  const forOthers = [...files].flatMap(([name, place]) => (asked.has(name) ? [place] : []));
  const others = forOthers.length === 0 ? [] : await askOthers(kind, forOthers, roots, scratch);
  return [...files].map(([file, place]) => {
    const words = others.flatMap(([other, said]) => {
      const word = said.get(place);
      return word === undefined ? [] : [[other, word] as const];
    });
    return { file, right: '', findings: [], ...own.get(place), others: new Map(words), why: '' };
  });
}

async function askOthers(
  kind: Group['kind'],
  files: readonly string[],
  roots: string,
  scratch: string,
): Promise<[Other, Said<OthersWord>][]> {
  const where = { folder, verifiers };
  if (kind === 'jar') {
    const root = readFileSync(roots, 'utf8');
    return [
      ['jarsigner', await askJarsigner(files, root, scratch)],
      ['JarCheck', await askJarCheck(files, root, where)],
    ];
  }
  return [
    ['osslsigncode', await askOsslsigncode(files, roots)],
    ['sigcheck', await askSigcheck(files, roots, verifiers)],
    ...(existsSync(WINE) ? [['Wine', await askWine(files, roots, where)] as [Other, Said<OthersWord>]] : []),
  ];
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
