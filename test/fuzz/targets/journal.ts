/** The journal's database, damaged by accident or by a program that writes odd values into its rows. */

import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, openDatabase, type Value } from '../../../src/journal/driver.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { askingOf, optionsHere, SIGNATURE } from '../../unit/journal/support/works.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

interface Damage {
  readonly file: string;
  readonly isSound: boolean;
}

const BEGINNING = Date.UTC(2026, 10, 20, 12);
/** Calls of the base, each left in another state. */
const CALLS = 6;
const TABLES = ['runs', 'calls', 'files', 'proven'] as const;
const ODD: readonly Value[] = [
  null,
  '',
  0,
  -1,
  2 ** 53,
  '{}',
  '[]',
  '{"formatOptions":1}',
  'x'.repeat(5000),
  '\u0000',
  '../..',
];

export const journalTarget: TargetDefinition = {
  share: 3000,
  async open({ folder }) {
    const base = await makeBase(await mkdtemp(join(folder, 'base-')));
    const scratch = join(await mkdtemp(join(folder, 'made-')), 'journal.db');
    return {
      make: (random) => Buffer.from(JSON.stringify(damage(base, scratch, random))),
      run: (input) =>
        inFolderOfItsOwn(folder, (place) => useDatabase(place, JSON.parse(Buffer.from(input).toString()) as Damage)),
    };
  },
};

function openAt(folder: string, pid: number): Promise<Journal> {
  let ids = 0;
  return openJournal({
    ...optionsHere(folder),
    now: () => new Date(BEGINNING),
    randomId: () => `id${pid}x${String(++ids).padStart(6, '0')}`,
    // It waits for no one.
    processes: { self: { host: 'here', boot: 'first', pid, started: `${pid}` }, isRunning: () => false },
    patience: 0,
  });
}

async function makeBase(folder: string): Promise<Buffer> {
  const journal = await openAt(folder, 1);
  for (let number = 0; number < CALLS; number += 1) {
    const claim = await journal.claim(askingOf(number));
    if (claim === undefined) throw new TypeError('each work is new');
    await claim.requested();
    if (number === 0) await claim.unanswered('no answer');
    // After others have matched: a mismatch alone would forbid all claims.
    else if (number === 5) await claim.unusable({ signature: SIGNATURE, record: 'record-1' }, 'another key');
    else await claim.signed({ signature: SIGNATURE, record: `record-${number}` });
    if (number === 3) await claim.notWritten('no room');
    if (number === 4 || number === 1) await claim.written('aa');
    if (number === 4) await claim.reported(1);
  }
  await journal.close();
  journal.ended();
  const path = join(folder, 'journal.db');
  const database = openDatabase(path);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  return await readFile(path);
}

/** The package libsql ends the process at text that is no UTF-8, so that such damage needs Node's own SQLite. */
const readsAnyText = process.getBuiltinModule?.('node:sqlite') !== undefined;

/** Bytes changed, or rows with odd values in them. */
function damage(base: Buffer, scratch: string, random: Random): Damage {
  if (readsAnyText && once(random, 2))
    return { file: Buffer.from(mutateBytes(base, random)).toString('base64'), isSound: false };
  writeFileSync(scratch, base);
  const database = openDatabase(scratch);
  for (let left = 1 + random(4); left > 0; left -= 1) oddValue(database, random);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  return { file: readFileSync(scratch).toString('base64'), isSound: true };
}

function oddValue(database: Database, random: Random): void {
  const table = pick(random, TABLES);
  const columns = Object.keys(database.get(`select * from ${table}`) ?? {});
  if (columns.length === 0) return;
  const row = `rowid = (select rowid from ${table} limit 1 offset ${random(CALLS)})`;
  try {
    database.run(`update ${table} set ${pick(random, columns)} = ? where ${row}`, pick(random, ODD));
  } catch {
    // The table does not take it.
  }
}

async function useDatabase(folder: string, { file, isSound }: Damage): Promise<string> {
  await writeFile(join(folder, 'journal.db'), Buffer.from(file, 'base64'), { mode: 0o600 });
  const opened = await answering(() => openAt(folder, 2));
  if ('code' in opened) return `open: ${opened.code}`;
  const journal = opened.value;
  const word = await useJournal(journal);
  require(!isSound || !word.includes('journal-damaged'), 'a sound database counts as damaged');
  await journal.close();
  journal.ended();
  for (const warning of journal.warnings) requireSaid(warning, 'warning');
  return word;
}

async function useJournal(journal: Journal): Promise<string> {
  const listed = await answering(() => journal.unfinished());
  if ('code' in listed) return `list: ${listed.code}`;
  const words: string[] = [];
  const read = await answering(async () => {
    for await (const { id } of journal.history()) require(typeof id === 'string', 'a call without an id');
  });
  if ('code' in read) words.push(read.code);
  for (let number = 0; number < CALLS; number += 1) words.push(await use(journal, number));
  const ids = listed.value.map(({ id }) => id);
  for (const id of ids.slice(0, 2)) await answering(() => journal.reported(id, 1));
  for (const id of [...ids, 'none']) await answering(() => journal.forget(id));
  return [...new Set(words)].join(', ');
}

async function use(journal: Journal, number: number): Promise<string> {
  const asking = askingOf(number);
  const done = await answering(async () => {
    const known = await journal.known(asking);
    if (known !== undefined) await known.written();
    else await (await journal.claim(asking))?.release();
    return known === undefined ? 'claimed' : 'known';
  });
  return 'code' in done ? done.code : done.value;
}
