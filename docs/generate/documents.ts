/** Documents of the package that are made from the tables of commands and options: the text of each by its path below dist. */

import { PROGRAM } from '../../src/cli/command-table.ts';
import { manualPage } from './manual-page.ts';
import { policySchema } from './policy-schema.ts';
import { profilesSchema, projectSchema } from './settings-schema.ts';

/** `outputPage`: the text of docs/output.md, which has the table of exit codes. */
export function documents(outputPage: string): Readonly<Record<string, string>> {
  const json = (schema: object) => `${JSON.stringify(schema, undefined, 2)}\n`;
  return {
    'man/codesign-remote.1': manualPage(PROGRAM, exitCodesIn(outputPage)),
    'schema/codesign-remote.config.schema.json': json(projectSchema()),
    'schema/codesign-remote.policy.schema.json': json(policySchema()),
    'schema/codesign-remote.profiles.schema.json': json(profilesSchema()),
  };
}

/** Each exit code with its meaning. */
function exitCodesIn(outputPage: string): readonly (readonly [string, string])[] {
  const section = outputPage.slice(outputPage.indexOf('\n## Exit codes\n'));
  const table = section.split('\n\n').find((part) => part.startsWith('|')) ?? '';
  const rows = table.split('\n').slice(2);
  return rows.map((row) => {
    const [, code = '', meaning = ''] = row.split('|').map((cell) => cell.trim().replaceAll('`', ''));
    return [code, meaning];
  });
}
