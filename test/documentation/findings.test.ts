/** Every finding of the program has a weight that its code alone decides, or few, and `docs/findings.md` lists it. */

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { REPOSITORY } from '../support/programs/cli.ts';
import { filesBelow } from './command-blocks.ts';

const WEIGHTS = ['broken', 'unsupported', 'untrusted', 'warning', 'note'] as const;
const ANY = `(?:${WEIGHTS.join('|')})`;
const CODE = `(?:'([a-z]+(?:-[a-z]+)+)'|([A-Z_]{2,}))`;

/** Weight and code of each call that makes a finding; a code may be a constant of the file or of the program. */
function* findingsIn(text: string): Generator<readonly [weight: string, code: string]> {
  for (const [, weight = '', code, name] of text.matchAll(new RegExp(`\\b(${ANY})\\(\\s*${CODE}`, 'g')))
    yield [weight, code ?? name ?? ''];
  for (const [, first = '', second = '', code, name] of text.matchAll(
    new RegExp(`\\? (${ANY}) : (${ANY})\\)\\(\\s*${CODE}`, 'g'),
  )) {
    for (const weight of [first, second]) yield [weight, code ?? name ?? ''];
  }
  for (const [, code = ''] of text.matchAll(/\brejected\(\s*\w+,\s*'([a-z-]+)'/g)) {
    yield ['broken', code];
    yield ['unsupported', code];
  }
}

/** Whose weight is chosen before the call. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  'bytes-after-archive': ['broken', 'note'],
  'bytes-before-archive': ['broken'],
  'bytes-between-entries': ['broken', 'note'],
  'certificate-expired': ['note'],
  'certificate-not-yet-valid': ['untrusted', 'note'],
  'certificate-weak-key': ['untrusted', 'warning'],
  'signature-block-missing': ['warning'],
  'signature-file-missing': ['warning'],
  'signature-parameters-wrong': ['broken', 'unsupported'],
};

it('lists the findings (renewed by: npx vitest run test/documentation/findings.test.ts -u)', async () => {
  const texts = filesBelow('src')
    .filter((name) => name.endsWith('.ts') && name !== 'src/errors/finding.ts')
    .map((name) => readFileSync(path.join(REPOSITORY, name), 'utf8'));
  const constants = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/const ([A-Z_]+) = '([a-z-]+)'/g)].map(([, name, code]) => [name, code] as const),
    ),
  );
  const weights = new Map(Object.entries(CHOSEN).map(([code, chosen]) => [code, new Set(chosen)]));
  for (const [weight, found] of texts.flatMap((text) => [...findingsIn(text)])) {
    const code = constants.get(found) ?? found;
    weights.set(code, (weights.get(code) ?? new Set()).add(weight));
  }
  expect(weights.size).toBeGreaterThan(80);
  const rows = [...weights]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, of]) => `| \`${code}\` | ${WEIGHTS.filter((weight) => of.has(weight)).join(', ')} |`);
  await expect(`${HEAD}${rows.join('\n')}\n`).toMatchFileSnapshot('../../docs/findings.md');
});

const HEAD = `# Findings

\`verify\` and \`inspect\` report findings. The weight of a finding determines the [verdict](verify.md):

- \`broken\`: signed content does not match, or data is hidden from the signature.
- \`unsupported\`: this program cannot verify the signature.
- \`untrusted\`: a signer or timestamp authority is not trusted, or a requirement is not met.
- \`warning\`: the verdict does not change. Warnings are counted, and printed unless you use \`--quiet\`.
- \`note\`: the verdict does not change. Notes are printed only with \`--verbose\`.

If a structure cannot be read, the finding has the [code of the error](errors.md), and the weight \`broken\` or \`unsupported\`, or \`note\` if the file is unsigned.
If a code has several weights, the circumstances decide: zeros that no signature covers are a note, but other bytes are \`broken\`.

| code | weight |
|---|---|
`;
