/** Reads a policy, which states which files must be signed, who must sign them, and which exceptions are allowed. */

import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { readFileUpTo } from '../bytes/read-file.ts';
import { DIGEST_ALGORITHMS } from '../crypto/algorithms.ts';
import { systemReason } from '../errors/system-reason.ts';
import { policyErrors } from './errors.ts';

const LARGEST_POLICY = 4 * 1024 * 1024;
/** The text that `--print-policy` writes in place of a reason. */
export const TODO = 'TODO';

const comments = { $schema: v.exactOptional(v.string()), comment: v.exactOptional(v.string()) };
const someText = v.pipe(v.string(), v.nonEmpty());
const glob = v.pipe(
  someText,
  v.check((text) => !text.startsWith('!'), 'a pattern cannot begin with "!": write a later rule instead'),
);
const listOf = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    v.union([schema, v.pipe(v.array(schema), v.nonEmpty())]),
    v.transform((value): v.InferOutput<Schema>[] => (Array.isArray(value) ? value : [value])),
  );
const fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'expected 64 hexadecimal digits in lower case'));
const signer = v.union([
  v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/, 'expected "sha256:" and 64 hexadecimal digits in lower case')),
  v.strictObject({
    ...comments,
    commonName: v.exactOptional(someText),
    organization: v.exactOptional(someText),
    organizationalUnit: v.exactOptional(someText),
    country: v.exactOptional(someText),
    issuerSha256: v.exactOptional(fingerprint),
    eku: v.exactOptional(v.pipe(v.string(), v.regex(/^\d+(\.\d+)+$/, 'expected an object identifier'))),
  }),
]);
const requirements = {
  require: v.exactOptional(v.picklist(['duty', 'signed', 'intact', 'nothing'])),
  signers: v.exactOptional(v.pipe(v.array(signer), v.nonEmpty())),
  timestamp: v.exactOptional(v.boolean()),
  digest: v.exactOptional(v.picklist(DIGEST_ALGORITHMS)),
  covered: v.exactOptional(v.pipe(v.array(v.picklist(['own', 'catalog', 'package'])), v.nonEmpty())),
  notOpened: v.exactOptional(v.picklist(['warn', 'fail'])),
  sign: v.exactOptional(v.boolean()),
};
const rule = v.pipe(
  v.strictObject({
    ...comments,
    ...requirements,
    files: listOf(glob),
    kinds: v.exactOptional(listOf(someText)),
    reason: v.exactOptional(someText),
    until: v.exactOptional(v.pipe(v.string(), v.isoDate('expected a date such as 2027-01-31'))),
  }),
  v.check(
    ({ require, reason }) => (require !== 'intact' && require !== 'nothing') || reason !== undefined,
    'a rule with "require": "intact" or "nothing" needs a "reason"',
  ),
  v.check(
    ({ require, until }) => until === undefined || require === 'intact' || require === 'nothing',
    '"until" needs "require": "intact" or "nothing"',
  ),
);
const policySchema = v.strictObject({
  ...comments,
  version: v.literal(1),
  roots: v.exactOptional(v.pipe(v.array(someText), v.nonEmpty())),
  defaults: v.exactOptional(v.strictObject({ ...comments, ...requirements })),
  rules: v.exactOptional(v.array(rule)),
  minimum: v.exactOptional(v.record(glob, v.pipe(v.number(), v.safeInteger(), v.minValue(1)))),
});

export type PolicySigner = v.InferOutput<typeof signer>;
export type PolicyRule = v.InferOutput<typeof rule>;
export type Policy = v.InferOutput<typeof policySchema> & { readonly path: string };

/** `kinds` contains all known kinds of files. Throws `policy-unreadable`, `policy-invalid`, `policy-not-finished`. */
export async function readPolicy(path: string, kinds: ReadonlySet<string>): Promise<Policy> {
  const text = await readFileUpTo(path, LARGEST_POLICY).catch((cause: unknown) => {
    throw policyErrors('policy-unreadable', { path, problem: systemReason(cause) }, { cause });
  });
  const policy = parse(path, text.toString('utf8').replace(/^\uFEFF/, ''));
  for (const [index, { kinds: named = [], reason }] of (policy.rules ?? []).entries()) {
    const unknown = named.find((kind) => !kinds.has(kind));
    if (unknown !== undefined) {
      throw policyErrors('policy-invalid', {
        path,
        problem: `rules[${index}].kinds: unknown kind ${JSON.stringify(unknown)}`,
      });
    }
    if (reason === TODO)
      throw policyErrors('policy-not-finished', { path, problem: `rules[${index}] has no reason yet` });
  }
  const roots = policy.roots?.map((root) => (root === 'system' ? root : resolve(dirname(path), root)));
  return { ...policy, path, ...(roots && { roots }) };
}

function parse(path: string, text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw policyErrors('policy-invalid', { path, problem: 'it is not JSON' }, { cause });
  }
  const read = v.safeParse(policySchema, value);
  if (read.success) return read.output;
  throw policyErrors('policy-invalid', { path, problem: problemOf(read.issues[0]) });
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  const member = v.getDotPath(issue)?.replace(/\.(\d+)(?=\.|$)/g, '[$1]');
  if (member === undefined) return issue.message;
  if (issue.type === 'strict_object' && issue.expected === 'never') return `the member ${member} is unknown`;
  if (issue.type === 'strict_object' && issue.received === 'undefined') return `the member ${member} is missing`;
  return `${member}: ${issue.message}`;
}
