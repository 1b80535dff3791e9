/** Writes the list of all error codes as Markdown, from the tables of errors themselves. */

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ErrorCategory, toCodesignError } from '../../src/errors/codesign-error.ts';
import type { ErrorDefinition } from '../../src/errors/define-errors.ts';
import { exitCodeFor } from '../../src/errors/exit-codes.ts';

const TABLE_HEAD = '| code | category | message | what to do |\n|---|---|---|---|\n';

const CATEGORIES = {
  internal: 'a defect of this program',
  usage: 'options, environment or inputs: nothing was sent',
  network: 'no response from the service',
  http: 'a response outside 2xx',
  business: 'a 2xx response that reports a failure',
  local: 'a file, the certificate or the disk',
  timestamp: 'no authority returned a usable timestamp',
  warning: 'the run continues',
} as const satisfies Readonly<Record<ErrorCategory | 'warning', string>>;
type Category = keyof typeof CATEGORIES;
export const NAMES_OF_CATEGORIES = Object.keys(CATEGORIES) as Category[];

const HEAD = `# Codes of errors and warnings

Every error that \`codesign-remote\` reports has one of these codes: in brackets after the message, and as \`error.code\` in
the JSON document and in the library. Warnings have codes in brackets too, and never change the exit code. Scripts may match
codes and categories; messages and hints may change. \`{…}\` stands for a value that the actual message shows.
\`codesign-remote explain <code>\` prints an entry. Each code is an anchor of this page, for example
\`errors.md#no-files\`.

| category | exit code | meaning |
|---|---|---|
${NAMES_OF_CATEGORIES.map((category) => `| \`${category}\` | ${exitCodeOf(category)} | ${CATEGORIES[category]} |\n`).join('')}
\`not-attempted\` has the category of the error that stopped the run, if it was one error. \`unauthorized\` has two categories:
\`http\` if the status was outside 2xx, otherwise \`business\`.

This page is generated from the tables (\`errors.ts\` in each folder): \`npx vitest run test/documentation/documentation.test.ts -u\`.
`;

function exitCodeOf(category: Category): string {
  return category === 'warning' ? 'none' : String(exitCodeFor([category]));
}

/** `source` is the folder src. */
export async function errorReference(source: string): Promise<string> {
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'errors.ts')
    .map((entry) => path.join(entry.parentPath, entry.name));
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
  const defined = modules.flatMap((module) => Object.values(module as Record<string, unknown>).filter(hasTable));
  const entries = [UNEXPECTED, ...defined.flatMap(({ table }) => Object.entries(table))].sort(byCode);
  const withAnchor = new Set<string>();
  const sections = NAMES_OF_CATEGORIES.map((category) => {
    const rows = entries.filter(([, definition]) => definition.category === category);
    return `## ${category}: exit code ${exitCodeOf(category)}\n\n${TABLE_HEAD}${rows.map((entry) => row(entry, withAnchor)).join('')}`;
  });
  return [HEAD, ...sections].join('\n');
}

type Definition = Pick<ErrorDefinition, 'message' | 'hint'> & { readonly category: string };
type Entry = readonly [code: string, Definition];

const byCode = ([one]: Entry, [other]: Entry) => (one < other ? -1 : 1);

/** The only code that is in no table. */
const UNEXPECTED = unexpected();

function unexpected(): Entry {
  const { code, category, message, hint } = toCodesignError(new Error('{message}'));
  return [code, { category, message, hint: hint ?? '' }];
}

function hasTable(value: unknown): value is { readonly table: Readonly<Record<string, Definition>> } {
  return typeof value === 'function' && 'table' in value;
}

function row([code, { category, message, hint = '' }]: Entry, withAnchor: Set<string>): string {
  // A code that is in two categories has its anchor at the first entry.
  const anchor = withAnchor.has(code) ? '' : `<a id="${code}"></a>`;
  withAnchor.add(code);
  return `| ${anchor}\`${code}\` | ${category} | ${cell(message)} | ${cell(hint)} |\n`;
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
