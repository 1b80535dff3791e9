import type { CheckResult } from '../../doctor/check.ts';
import { examine } from '../../doctor/doctor.ts';
import { exitCodeFor } from '../../errors/exit-codes.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { errorJson, jsonText } from '../output/json.ts';
import { INDENT, Lines, oneLine, shown } from '../output/lines.ts';

const WORDS = { ok: 'ok', note: 'note', failed: 'failed', 'not-checked': 'skipped' } as const;
const NAME_COLUMNS = 13;

export async function doctor(options: OptionsOf<'doctor'>, io: Io): Promise<number> {
  const lines = new Lines(io, {});
  const results: CheckResult[] = [];
  for await (const result of examine(options, io.env)) {
    results.push(result);
    if (!options.json) printCheck(result, lines);
  }
  if (options.json) io.stdout.write(jsonText({ checks: results.map(checkJson) }));
  return exitCodeFor(results.flatMap(({ error }) => error?.category ?? []));
}

function printCheck({ name, status, text, notes, error }: CheckResult, lines: Lines): void {
  const found = error === undefined ? shown(text) : oneLine(error);
  lines.result(`${WORDS[status].padEnd(INDENT.length)}${name.padEnd(NAME_COLUMNS)}${found}`);
  const hint = error?.hint === undefined ? [] : [`hint: ${error.hint}`];
  for (const line of [...notes, ...hint]) lines.result(`${INDENT}${shown(line)}`);
}

function checkJson({ name, status, text, notes, error }: CheckResult) {
  return { name, status, text, notes, error: error === undefined ? null : errorJson(error) };
}
