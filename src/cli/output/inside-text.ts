import { locationOf } from '../../containers/walk.ts';
import { asClause } from '../../errors/finding.ts';
import { printable } from '../../errors/printable.ts';
import type { ClassifiedFile, Minimum, Result } from '../../policy/classified-file.ts';
import type { PolicyRule } from '../../policy/policy-file.ts';
import type { Io } from '../io.ts';
import { annotationLine, hasAnnotations, writeJobSummary } from './github.ts';
import { type LinesOptions, shown, writeLines } from './lines.ts';
import { warningsOf } from './verdict-json.ts';
import { printVerdict } from './verdict-text.ts';

const WORD_LENGTH = 14;
const MESSAGE_LENGTH = 1000;

/** Prints failures, files that could not be opened, and warnings; with `verbose` also files with the result `good`. */
export function printClassified(
  files: readonly ClassifiedFile[],
  rules: readonly PolicyRule[],
  options: LinesOptions,
  io: Io,
): void {
  const { quiet, verbose } = options;
  for (const file of files) {
    const { verified, notOpened, isFailure, result } = file;
    const path = locationOf(file.path);
    const rule = ruleText(file, rules);
    const isShown = isFailure || (!quiet && (result === 'not-opened' || (verbose && result === 'good')));
    if (isShown && verified !== undefined && verified.error === undefined && isVerdict(file)) {
      printVerdict({ ...verified, path: `${path}${rule}` }, options, io);
      continue;
    }
    const lineOf = (word: string, text: string) => `${word.padEnd(WORD_LENGTH)}${shown(path)}${rule}: ${text}`;
    const word = WORDS[notOpened === undefined ? result : 'not-opened'];
    const warnings = quiet || verified === undefined ? [] : warningsOf(verified);
    const lines = [
      ...(isShown ? [lineOf(word, resultText(file))] : []),
      ...warnings.map((one) => lineOf('warning', `${printable(asClause(one), MESSAGE_LENGTH)} [${one.code}]`)),
    ];
    if (lines.length > 0) writeLines(io.stdout, lines, io);
  }
}

/** True if the result of the file comes from the verdict on its own signature. */
function isVerdict({ cause, covered, result, verified }: ClassifiedFile): boolean {
  return covered === 'own' || (result === 'failed' && cause === verified?.verdict);
}

function ruleText({ rule }: ClassifiedFile, rules: readonly PolicyRule[]): string {
  const found = rule === undefined ? undefined : rules[rule];
  if (found === undefined) return '';
  const [first = '', ...others] = found.files;
  return ` (rule ${Number(rule) + 1}: ${printable(first)}${others.length > 0 ? ', …' : ''})`;
}

const CAUSES: Readonly<Record<string, string>> = {
  unsigned: 'not signed',
  broken: 'the signature does not match the file',
  untrusted: 'the signer or the timestamp is not trusted',
  unsupported: 'a signature cannot be verified',
  'timestamp-required': 'its signature has no valid timestamp',
  'algorithm-too-weak': 'its signature uses a weaker digest algorithm than the policy requires',
  'not-covered': 'the policy does not accept its own signature',
  'exception-expired': 'the exception for it has ended',
};

function resultText({ cause, covered, verified, notOpened }: ClassifiedFile): string {
  if (covered === 'package') return 'covered by the signature of its package';
  if (covered === 'catalog') return 'listed in the catalog of its package';
  if (notOpened !== undefined) return `${shown(notOpened.message)} [${notOpened.code}]`;
  if (verified?.error !== undefined) return `${shown(verified.error.message)} [${verified.error.code}]`;
  const names = verified?.signatures.map(({ signer }) => `"${printable(signer.name)}"`).join(', ');
  const text =
    cause === 'signer-differs' ? `it is signed by ${names}, which the policy does not accept` : CAUSES[cause ?? ''];
  return `${text ?? 'failed'} [${cause}]`;
}

/** Returns a warning if the job summary cannot be written. */
export function annotateFailures(
  files: readonly ClassifiedFile[],
  { json }: LinesOptions,
  { stdout, stderr, env }: Io,
): string | undefined {
  if (!hasAnnotations(env)) return undefined;
  const failures = files.filter(({ isFailure }) => isFailure);
  for (const file of failures) {
    const message = `${locationOf(file.path)}: ${resultText(file)}`;
    const annotation = { kind: 'error', title: file.cause ?? 'failed', message, file: file.path[0] } as const;
    (json ? stderr : stdout).write(`${annotationLine(annotation)}\n`);
  }
  if (failures.length === 0) return undefined;
  const rows = failures.map((file) => [locationOf(file.path), resultText(file)]);
  return writeJobSummary({ heading: 'codesign-remote verify', columns: ['file', 'problem'], rows }, env);
}

export function ruleLines(rules: readonly PolicyRule[], files: readonly ClassifiedFile[]): readonly string[] {
  return rules.map((rule, index) => {
    const decided = files.filter((file) => file.rule === index);
    return `rule ${index + 1}${' '.repeat(8)}${printable(rule.files.join(', '))}: ${resultCounts(decided)}`;
  });
}

export function minimumLine({ pattern, least, good }: Minimum): string {
  return `${'failed'.padEnd(WORD_LENGTH)}${printable(pattern)}: ${good} good, at least ${least} required [minimum]`;
}

const WORDS: Readonly<Record<Result, string>> = {
  good: 'good',
  failed: 'failed',
  'not-opened': 'not opened',
  exempt: 'exempt',
  'not-checked': 'not checked',
  'not-signable': 'cannot be signed',
  'not-required': 'need no signature',
};

/** Example: `3 good, 1 failed, 12 need no signature`. */
export function resultCounts(files: readonly ClassifiedFile[]): string {
  const counts = Object.entries(WORDS).flatMap(([result, word]) => {
    const count = files.filter((file) => file.result === result).length;
    return count === 0 && result !== 'good' ? [] : [`${count} ${word}`];
  });
  return counts.join(', ');
}
