/** Result codes of SQLite, as both drivers report them. */

const CODES = ['BUSY', 'CANTOPEN', 'CONSTRAINT', 'CORRUPT', 'FULL', 'NOTADB', 'READONLY'] as const;
export type SqliteCode = (typeof CODES)[number];
const NUMBERS: Readonly<Record<number, SqliteCode>> = {
  ...{ 5: 'BUSY', 8: 'READONLY', 11: 'CORRUPT', 13: 'FULL', 14: 'CANTOPEN', 19: 'CONSTRAINT', 26: 'NOTADB' },
};

/** Extended codes count as what they extend. */
export function hasSqliteCode(thrown: unknown, ...codes: readonly SqliteCode[]): boolean {
  if (!(thrown instanceof Error)) return false;
  const { errcode, code, message } = thrown as { errcode?: number; code?: unknown; message: string };
  // libsql says of a database that cannot be opened only this.
  const given = errcode ?? (code === '' ? Number(/: (\d+)"?\)?$/.exec(message)?.[1]) : undefined);
  const named = typeof code === 'string' ? CODES.find((name) => code.startsWith(`SQLITE_${name}`)) : undefined;
  const found = given === undefined ? named : NUMBERS[given & 255];
  return found !== undefined && codes.includes(found);
}
