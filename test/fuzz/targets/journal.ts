/** The journal's folder, damaged by accident or by a program that writes whole lines with odd values in them. */

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readCall } from '../../../src/journal/calls/call-state.ts';
import { readEntry } from '../../../src/journal/history/history.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { decodeLine, encodeLine, splitLines } from '../../../src/journal/lines.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { factsOf, SIGNATURE, workOf } from '../../unit/journal/support/works.ts';
import { answering, require, requireSaid } from '../check-case.ts';
import { mutateBytes } from '../mutations/bytes.ts';
import { mutateValue } from '../mutations/json.ts';
import { once, pick, type Random } from '../mutations/random.ts';
import { inFolderOfItsOwn, type TargetDefinition } from '../target.ts';

/** Path in the journal's folder → what is in it. */
type Files = Readonly<Record<string, string>>;

interface DamagedFolder {
  /** In Base64. */
  readonly files: Files;
  /** The id of a call whose file is as it was. */
  readonly intact: string | undefined;
}

const BEGINNING = Date.UTC(2026, 10, 20, 12);
/** Calls of the base, each left in another state. */
const CALLS = 6;

export const journalTarget: TargetDefinition = {
  what: "the journal's folder: opened, listed, claimed from, reported and forgotten",
  share: 4000,
  async open({ folder }) {
    const { files, idOf } = await makeBase(await mkdtemp(join(folder, 'base-')));
    return {
      make: (random) => Buffer.from(JSON.stringify(damageFolder(files, idOf, random))),
      run: (input) =>
        inFolderOfItsOwn(folder, (place) =>
          useFolder(place, JSON.parse(Buffer.from(input).toString()) as DamagedFolder),
        ),
    };
  },
};

export const callTarget: TargetDefinition = {
  what: 'the lines of a call',
  share: 20_000,
  async open({ folder }) {
    const { files } = await makeBase(await mkdtemp(join(folder, 'base-')));
    const calls = Object.entries(files).flatMap(([path, text]) => (/^(calls|finished)/.test(path) ? [text] : []));
    return {
      make: (random) => Buffer.from(damageLines(pick(random, calls), random, pick(random, calls)), 'latin1'),
      async run(input) {
        const { lines } = splitLines(input);
        const states = [readCall(input, undefined), readCall(input, 'another')];
        for (const state of states) require(state.lines === lines.length, 'a line was not counted');
        const [{ phase, damaged } = states[1] ?? { phase: 'empty', damaged: 0 }] = states;
        return `${phase}${damaged > 0 ? ', damaged' : ''}`;
      },
    };
  },
};

function openAt(folder: string, pid: number): Promise<Journal> {
  let ids = 0;
  return openJournal({
    folder,
    now: () => new Date(BEGINNING),
    uptime: () => 1_000_000,
    randomId: () => `id${pid}x${String(++ids).padStart(6, '0')}`,
    processes: {
      self: { host: 'here', boot: 'first', pid, started: `${pid}` },
      // It waits for no one.
      isRunning: async () => false,
    },
    keepDays: 90,
    runningFor: 0,
  });
}

async function makeBase(
  folder: string,
): Promise<{ readonly files: Files; readonly idOf: ReadonlyMap<string, string> }> {
  const journal = await openAt(folder, 1);
  const idOf = new Map<string, string>();
  for (let number = 0; number < CALLS; number += 1) {
    const claim = await journal.claim(workOf(number), factsOf(`file-${number}`));
    await claim.requested();
    if (number === 0) await claim.unanswered('no answer');
    else if (number > 1) await claim.signed({ signature: SIGNATURE, record: `record-${number}` });
    if (number === 3) await claim.notWritten('no room');
    if (number > 3) await claim.written(`/file-${number}`);
    if (number === 5) await claim.reported(1);
    if (number < 5) idOf.set(claim.id, claim.id);
  }
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[path.slice(folder.length + 1)] = await readFile(path, 'latin1');
  }
  await rm(folder, { recursive: true });
  return { files, idOf };
}

function damageFolder(base: Files, idOf: ReadonlyMap<string, string>, random: Random): DamagedFolder {
  const paths = Object.keys(base).filter((path) => !path.startsWith('proven'));
  const inCalls = paths.filter((path) => path.startsWith('calls'));
  const kept = pick(random, inCalls);
  const files: Record<string, string> = { ...base };
  for (let left = 1 + random(3); left > 0; left -= 1) {
    const path = pick(random, paths);
    if (path === kept) continue;
    const text = files[path] ?? '';
    switch (random(10)) {
      case 0:
        delete files[path];
        break;
      case 1:
        // Where the file of another call could be, or of none.
        files[path.replace(/[0-9a-f](?=\.jsonl)/, (digit) => (digit === '0' ? '1' : '0'))] = text;
        break;
      case 2:
        files[path.replace(/^calls\/(\w+)/, 'aside/$1.idx')] = text;
        break;
      case 3:
        files[
          `${path.split('/')[0]}/${pick(random, ['x', '.jsonl', 'x.jsonl.tmp', '9999-99.jsonl', '2026-11-20T12/x', '0000-00-00T00/y'])}`
        ] = text;
        break;
      default:
        files[path] = damageLines(text, random, base[pick(random, paths)] ?? '');
    }
  }
  const intact = [...idOf.keys()].find((id) => (base[kept] ?? '').includes(`"${id}"`));
  const encoded = Object.entries(files).map(([path, text]) => [path, Buffer.from(text, 'latin1').toString('base64')]);
  return { files: Object.fromEntries(encoded) as Files, intact };
}

/** Truncated, swapped, duplicated, with one byte changed, or complete and unusual. */
function damageLines(text: string, random: Random, other: string): string {
  let lines = text.split('\n');
  for (let left = 1 + random(3); left > 0; left -= 1) {
    if (lines.length === 0) break;
    const at = random(Math.max(1, lines.length - 1));
    const line = lines[at] ?? '';
    switch (random(9)) {
      case 0:
        lines = lines.toSpliced(at, 1);
        break;
      case 1:
        lines = lines.toSpliced(at, 0, line);
        break;
      case 2:
        lines = lines.with(at, lines[random(lines.length)] ?? '');
        break;
      case 3:
        lines = lines.with(at, line.slice(0, random(line.length + 1)));
        break;
      case 4:
        lines = lines.toSpliced(at, 0, pick(random, other.split('\n')));
        break;
      case 5:
        lines = lines.with(at, mutateBytes(Buffer.from(line, 'latin1'), random).toString('latin1'));
        break;
      default:
        lines = lines.with(at, oddLine(line, random));
    }
  }
  const damaged = lines.join('\n');
  return once(random, 6) ? damaged.slice(0, random(damaged.length + 1)) : damaged;
}

/** With the right checksum. */
function oddLine(line: string, random: Random): string {
  const value = decodeLine(Buffer.from(line, 'latin1').toString('utf8'));
  if (typeof value !== 'object' || value === null) return line;
  const { sum: _, ...members } = value as Readonly<Record<string, unknown>>;
  const changed = mutateValue(members, random);
  if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) return line;
  if (Object.keys(changed).length === 0) return line;
  return Buffer.from(encodeLine(changed as Readonly<Record<string, unknown>>).trimEnd()).toString('latin1');
}

async function useFolder(folder: string, { files, intact }: DamagedFolder): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), Buffer.from(content, 'base64'), { mode: 0o600 });
  }
  const opened = await answering(() => openAt(folder, 2));
  if ('code' in opened) return `open: ${opened.code}`;
  const journal = opened.value;
  const listed = await answering(() => journal.unfinished());
  if ('code' in listed) return `list: ${listed.code}`;
  const ids = listed.value.map(({ id }) => id);
  require(intact === undefined || ids.includes(intact), `a call that is whole is not listed`);
  const entries = await answering(() => idsInHistory(journal));
  if ('value' in entries) requireWholeEntries(files, entries.value);
  const word = await claimAll(journal);
  for (const id of ids.slice(0, 2)) await answering(() => journal.reported(id, 1));
  for (const id of [...ids, 'nobody']) await answering(() => journal.forget(id, undefined));
  for (const warning of journal.warnings) requireSaid(warning, 'warning');
  return word;
}

async function idsInHistory(journal: Journal): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for await (const { id } of journal.history()) ids.add(id);
  return ids;
}

/** Every line of the history that is whole by itself is given, whatever stands round it. */
function requireWholeEntries(files: Files, given: ReadonlySet<string>): void {
  const month = '2026-11';
  const text = Buffer.from(files[`history/${month}.jsonl`] ?? '', 'base64').toString('utf8');
  for (const line of text.split('\n')) {
    const entry = readEntry(line);
    require(entry === undefined || given.has(entry.id), 'a whole line of the history is lost');
  }
}

async function claimAll(journal: Journal): Promise<string> {
  const words: string[] = [];
  for (let number = 0; number < CALLS; number += 1) {
    const claim = await answering(() => journal.claim(workOf(number), factsOf(`again-${number}`)));
    if ('code' in claim) {
      words.push(claim.code);
      continue;
    }
    const { known } = claim.value;
    if (known !== undefined) words.push('known');
    const done = await answering(async () => {
      if (known === undefined) await claim.value.release();
      else await claim.value.written('/again');
    });
    if ('code' in done) words.push(done.code);
  }
  return words.length === 0 ? 'nothing known' : [...new Set(words)].join(', ');
}
