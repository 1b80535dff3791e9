/** Writes the list of all error codes as Markdown, from the tables of errors themselves. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { toCodesignError } from '../../src/errors/codesign-error.ts';
import type { ErrorDefinition } from '../../src/errors/define-errors.ts';
import { exitCodeFor } from '../../src/errors/exit-codes.ts';

const TABLE_HEAD = '| code | category | message | what to do |\n|---|---|---|---|\n';

const HEAD = `# Codes of errors and warnings

Every error that \`codesign-remote\` reports has one of these codes: in brackets after the message, and as \`error.code\` in
the JSON document and in the library. Warnings have codes in brackets too, and never change the exit code. Scripts may match
codes and categories; messages and hints may change. \`{…}\` stands
for a value of an occurrence. \`codesign-remote explain <code>\` prints an entry.

| category | exit code | |
|---|---|---|
| \`usage\` | ${exitCodeFor(['usage'])} | options, environment, inputs: nothing was sent |
| \`network\` | ${exitCodeFor(['network'])} | no answer from the service |
| \`http\` | ${exitCodeFor(['http'])} | an answer outside 2xx |
| \`business\` | ${exitCodeFor(['business'])} | an answer in 2xx that reports a failure |
| \`local\` | ${exitCodeFor(['local'])} | the file, the certificate, the disk |
| \`timestamp\` | ${exitCodeFor(['timestamp'])} | no authority returned a usable timestamp |
| \`warning\` | none | the run continues |
| \`internal\` | ${exitCodeFor(['internal'])} | the code \`internal\`: a defect of this program: report it with the output of \`--verbose\` |

\`not-attempted\` has the category of the error that stopped the run, if it was one error. \`unauthorized\` has two categories:
\`http\` when the status was outside 2xx, \`business\` otherwise.

This page is generated from the tables (\`errors.ts\` in each folder): \`npx vitest run test/documentation/documentation.test.ts -u\`.
`;

/** `source` is the folder src. */
export async function errorReference(source: string): Promise<string> {
  const folders = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'errors.ts')
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
  const sections = await Promise.all(folders.map((file) => section(source, file)));
  return [HEAD, unexpectedSection(), ...sections].join('\n');
}

async function section(source: string, file: string): Promise<string> {
  const exported = Object.values((await import(pathToFileURL(file).href)) as Record<string, unknown>);
  const rows = exported.filter(hasTable).flatMap(({ table }) => Object.entries(table).map(row));
  const opening = /^\/\*\* (.*?) \*\//.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  const folder = path.relative(source, path.dirname(file)).replaceAll(path.sep, '/');
  return `## ${folder}\n\n${opening}\n\n${TABLE_HEAD}${rows.join('')}`;
}

/** The only code that is in no table. */
function unexpectedSection(): string {
  const { code, category, message, hint } = toCodesignError(new Error('{message}'));
  return `## errors\n\nA defect of this program.\n\n${TABLE_HEAD}${row([code, { category, message, hint: hint ?? '' }])}`;
}

type Definition = Pick<ErrorDefinition, 'message' | 'hint'> & { readonly category: string };
type Table = Readonly<Record<string, Definition>>;

function hasTable(value: unknown): value is { readonly table: Table } {
  return typeof value === 'function' && 'table' in value;
}

function row([code, { category, message, hint = '' }]: [string, Definition]): string {
  return `| \`${code}\` | ${category} | ${cell(message)} | ${cell(hint)} |\n`;
}

/** Each detail as its own name in braces; of the two operations the one that matters; nothing that is only perhaps so. */
const NAMES = new Proxy({}, { get: (_, name) => nameOf(String(name)) });

function nameOf(detail: string): string | boolean {
  if (detail === 'operation') return 'sign';
  return detail.startsWith('is') ? false : `{${detail}}`;
}

function cell(text: ErrorDefinition['message']): string {
  const rendered = typeof text === 'function' ? text(NAMES as never) : text.replace('{operation}', 'sign');
  return rendered.replace(/[|<>*]/g, '\\$&');
}
