/** `codesign-remote history`: the journal as a table, a document and for spreadsheets, with names that are out to do harm. */

import { chmod, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { composeHistory } from '../../../../src/app/compose-history.ts';
import { historyTable } from '../../../../src/cli/output/history.ts';
import { widthOf } from '../../../../src/cli/output/text-layout.ts';
import { openDatabase } from '../../../../src/journal/driver.ts';
import type { HistoryEntry } from '../../../../src/journal/journal.ts';
import type { LibraryOptionsOf } from '../../../../src/options/table.ts';
import { programForOthers, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { openStateFolder } from '../../../support/runs/killed-calls.ts';

const ENTRY: HistoryEntry = {
  id: 'call-1',
  at: '2026-10-31T23:59:59.000Z',
  ended: '2026-11-01T00:00:01.000Z',
  file: 'app.exe',
  bytes: 1000,
  filesWritten: 1,
  certificate: { name: 'Example Corp', sha256: 'aa' },
  origin: 'https://codesign.example.com',
  code: '1001',
  algorithm: 'SHA256',
  digest: '0123456789abcdef'.repeat(4),
  record: 'record-1',
  outcome: 'written',
  counted: 'yes',
  reported: 1,
  reason: undefined,
};
const RED = '\u001b[31m';
const NASTY: HistoryEntry = {
  ...ENTRY,
  id: 'call-2',
  at: '2026-11-02T10:00:00.000Z',
  file: `=HYPERLINK("x"),${RED}\n\u202eexe.app`,
  certificate: { name: '@SUM(A1), "Corp"', sha256: 'bb' },
  record: undefined,
  outcome: 'unknown',
  counted: 'unknown',
  reported: undefined,
  reason: '-the connection broke',
};

/** A state folder with these calls, as a run of this process made them. */
async function journalOf(entries: readonly HistoryEntry[]) {
  const folder = await temporaryFolder();
  const journal = await openStateFolder(folder.path);
  // It would remove old calls.
  await journal.close();
  const db = openDatabase(join(folder.path, 'journal.db'));
  for (const entry of entries) {
    const { id, at, ended, file, bytes, filesWritten, certificate, origin, code, algorithm, digest, record } = entry;
    const state = entry.outcome === 'written' ? 'closed' : entry.outcome;
    const given = entry.counted === 'yes' ? 'signature' : null;
    db.run(
      `insert into calls (name, work, origin, code, algorithm, digest, run, state, settled, at, ended_at, file, bytes,
         certificate, leaf, client, record, signature, reason) values (?, ?, ?, ?, ?, ?, 1, ?, 1, ?, ?, ?, ?, ?, ?, '', ?, ?, ?)`,
      ...[id, id, origin, code, algorithm, digest, state, Date.parse(at), Date.parse(ended ?? at), file, bytes],
      ...[certificate.name, certificate.sha256, record ?? null, given, entry.reason ?? null],
    );
    const call = 'select id from calls where name = ?';
    for (let number = 0; number < filesWritten; number += 1)
      db.run(
        `insert into files (call, run, place, file, wants_report, written) values ((${call}), 1, ?, ?, 1, 1)`,
        id,
        number,
        file,
      );
    if (entry.reported !== undefined) db.run('update calls set reported = ? where name = ?', entry.reported, id);
  }
  db.close();
  journal.ended();
  return folder;
}

async function history(entries: readonly HistoryEntry[], ...args: readonly string[]) {
  await using folder = await journalOf(entries);
  return await runCli(['history', ...args], { env: { CODESIGN_STATE_DIR: folder.path } });
}

describe('history', () => {
  it.each<[columns: number, heads: string]>([
    [172, 'when (UTC), outcome, counted, reported, service, number, certificate, record, file'],
    [171, 'when (UTC), outcome, counted, reported, number, certificate, record, file'],
    [145, 'when (UTC), outcome, counted, number, certificate, record, file'],
    [135, 'when (UTC), outcome, counted, number, certificate, file'],
    [80, 'when (UTC), outcome, counted, number, certificate, file'],
    [40, 'when (UTC), outcome, counted, number, certificate, file'],
  ])('fits into a terminal of %i columns, without the less important ones', (columns, heads) => {
    const { head, entry, tail } = historyTable(columns);
    const long = { ...ENTRY, certificate: { name: '例'.repeat(30), sha256: 'aa' }, file: 'a-longer-name.exe' };
    const sum = { month: '2026-10', certificate: long.certificate, calls: 1, counted: 1, unknown: 0, files: 1 };
    const lines = [head, entry(ENTRY), entry(long), tail([sum])].flatMap((text) => text.trimEnd().split('\n'));
    expect(lines.filter((line) => widthOf(line) > columns)).toEqual([]);
    expect(
      head
        .trim()
        .split(/\s{2,}/)
        .join(', '),
    ).toBe(heads);
    expect(entry(ENTRY).split('\n')).toHaveLength(columns === 40 ? 3 : 2);
    expect(entry(long)).toContain(long.file);
  });

  it.each([{ args: [] }, { args: ['--json'] }])('writes no control characters: $args', async ({ args }) => {
    const { stdout } = await history([NASTY], ...args);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
    expect(stdout).not.toMatch(/[\0-\x09\x0b-\x1f\x7f\u202e]/);
    expect(stdout).toContain('exe.app');
  });

  const entries = [
    ENTRY,
    { ...ENTRY, id: 'call-2', file: 'dist/app (1).exe', outcome: 'unknown' },
    { ...ENTRY, id: 'call-3', file: 'dist/tool.jar' },
    { ...ENTRY, id: 'call-4', at: '2026-11-02T10:00:00.000Z', file: 'dist/lib/tool.exe', outcome: 'refused' },
  ] as const;
  it.each<[LibraryOptionsOf<'history'>, readonly number[]]>([
    [{ since: '2026-11' }, [4]],
    [{ limit: 2 }, [3, 4]],
    [{ limit: '9' }, [1, 2, 3, 4]],
    [{ file: ['*.exe'] }, [1, 2, 4]],
    [{ file: ['tool.*'], limit: 1 }, [4]],
    [{ file: ['dist/*'] }, [2, 3, 4]],
    [{ file: ['dist/app (1).exe', 'tool.jar'] }, [2, 3]],
    [{ outcome: ['unknown', 'refused'] }, [2, 4]],
    [{ outcome: ['written'], file: ['*.exe'] }, [1]],
  ])('selects %j', async (options, expected) => {
    await using folder = await journalOf(entries);
    const found: string[] = [];
    for await (const { id } of (await composeHistory(options, { CODESIGN_STATE_DIR: folder.path })).entries)
      found.push(id);
    expect(found).toEqual(expected.map((number) => `call-${number}`));
  });

  it.runIf(process.platform !== 'win32')('needs write access, as resume --dry-run does', async () => {
    await using journal = await journalOf([ENTRY]);
    await using folder = await temporaryFolder();
    // Without the log, which libsql leaves until it closes its connection.
    await copyFile(join(journal.path, 'journal.db'), join(folder.path, 'journal.db'));
    await chmod(join(folder.path, 'journal.db'), 0o444);
    await chmod(folder.path, 0o555);
    // Root may write everywhere.
    const user = process.getuid?.() === 0 ? { uid: 65_534, ...(await programForOthers()) } : {};
    const env = { CODESIGN_STATE_DIR: folder.path, CODESIGN_CONFIG_DIR: folder.path };
    for (const args of [['history'], ['resume', '--dry-run']]) {
      const { code, stderr } = await runCli(args, { env, ...user });
      expect([code, stderr]).toEqual([6, expect.stringContaining('cannot be used: this user cannot write to it')]);
    }
    await chmod(folder.path, 0o755);
  });

  it('is kept for 90 days, or for as many as the environment says', async () => {
    const ago = (days: number): HistoryEntry => {
      const at = new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();
      return { ...ENTRY, id: `${days}`, at, ended: at };
    };
    await using folder = await journalOf([1000, 200, 30].map(ago));
    // Whatever opens the journal to write removes what is older.
    const kept = async (days: string) => {
      const env = { CODESIGN_STATE_DIR: folder.path, CODESIGN_HISTORY_DAYS: days };
      const { code, stderr } = await runCli(['resume'], { env });
      const { stdout } = await runCli(['history', '--json'], { env: { CODESIGN_STATE_DIR: folder.path } });
      return { code, stderr, ids: JSON.parse(stdout).calls.map(({ id }: HistoryEntry) => id) };
    };
    expect(await kept('1500')).toMatchObject({ code: 0, ids: ['1000', '200', '30'] });
    expect(await kept('365')).toMatchObject({ code: 0, ids: ['200', '30'] });
    expect(await kept('')).toMatchObject({ code: 0, ids: ['30'] });
    expect(await kept('soon')).toMatchObject({ code: 2, ids: ['30'] });
    expect((await kept('0')).stderr).toContain('CODESIGN_HISTORY_DAYS: "…" is not a whole number from 1 to 36500');
  });
});
