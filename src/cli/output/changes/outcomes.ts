import { plural } from '../../../errors/plural.ts';
import { printable } from '../../../errors/printable.ts';
import { mayHaveBeenCounted } from '../../../service/errors.ts';
import type {
  ChangeFilesResult,
  FileOutcome,
  InsideOutcome,
  PlannedPart,
  SignedPart,
  SkipReason,
} from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import type { SummaryTable } from '../github.ts';
import { errorJson } from '../json.ts';
import { oneLine } from '../lines.ts';

/** Words of the output, which are also members of the JSON summary. */
export type ChangeVerb = 'signed' | 'timestamped' | 'removed' | 'attached';

export const DOING: Readonly<Record<ChangeVerb, string>> = {
  signed: 'signing',
  timestamped: 'timestamping',
  removed: 'removing signatures from',
  attached: 'attaching to',
};

const SKIPPED: Readonly<Record<SkipReason, string>> = {
  'already-signed': 'already signed',
  'signed-by-others': 'signed by others',
  'already-timestamped': 'already has a timestamp',
  'not-signed': 'not signed',
  'nothing-to-sign': 'nothing to sign in it',
  exempt: 'the policy requires no signature',
};

interface Row {
  readonly details: readonly string[];
  readonly below?: readonly string[];
}

/** The first word of the file's line; the summary counts files by this word. */
export function wordOf(outcome: FileOutcome): string {
  if (isNotAttempted(outcome)) return 'not tried';
  return outcome.status === 'skipped' && outcome.reason === 'signed-by-others' ? 'kept' : outcome.status;
}

/** `isBrief` omits the service's record. */
export function rowOf(outcome: FileOutcome, isBrief = false): Row {
  switch (outcome.status) {
    case 'signed': {
      const { algorithm, record, reused, timestamp, units = [], inner, inside, milliseconds, replaced } = outcome;
      const signedInside = (inner ?? inside?.filter(({ status }) => status === 'signed') ?? []).length;
      const details = [
        algorithm,
        ...(units.length === 0 ? [] : [plural(units.length, 'signature')]),
        ...(record === null || isBrief || units.length > 0 ? [] : [`record ${printable(record)}`]),
        ...(reused ? ['signature of an earlier call'] : []),
        ...(timestamp === null ? [] : [`timestamp ${timestamp}`]),
        ...(signedInside === 0 ? [] : [`with ${plural(signedInside, 'signed file')} in it`]),
        `${milliseconds} ms`,
      ];
      return { details, below: [...units.map(unitText), ...signersLines('replaced', replaced)] };
    }
    case 'unchanged':
      return { details: ['already has this signature'], below: signersLines('replaced', outcome.replaced) };
    case 'planned': {
      const { units = [], inner = [], inside = [], replaced } = outcome;
      const below = [
        ...units.map((unit) => `${printable(unit.name)}: ${digestText(unit)}`),
        ...inner.map((file) => `${printable(file.name)}, in it and before it: ${digestText(file)}`),
        ...inside.map(insideText),
      ];
      const isContainerOnly = outcome.units?.length === 0;
      const own = units.length > 0 ? plural(units.length, 'digest') : digestText(outcome);
      const details = [isContainerOnly ? 'only files in it would be signed' : `would send ${own}`];
      return { details, below: [...below, ...signersLines('would replace', replaced)] };
    }
    case 'timestamped': {
      const { timestamp, authority, signatures, milliseconds } = outcome;
      const count = signatures > 1 ? [plural(signatures, 'signature')] : [];
      return { details: [timestamp, printable(authority), ...count, `${milliseconds} ms`] };
    }
    case 'removed': {
      const { signatures, removed, milliseconds } = outcome;
      // A certificate table may contain data that is not a signature.
      const what = signatures === 0 ? 'data that is not a signature' : plural(signatures, 'signature');
      return { details: [what, `${milliseconds} ms`], below: signersLines('removed', removed) };
    }
    case 'attached': {
      const { signer, replaced, milliseconds } = outcome;
      const details = [`signature of "${printable(signer)}"`, `${milliseconds} ms`];
      return { details, below: signersLines('replaced', replaced) };
    }
    case 'skipped':
      return { details: [SKIPPED[outcome.reason]] };
    case 'failed':
      return { details: [oneLine(outcome.error)] };
  }
}

function digestText({ algorithm, digest }: Omit<PlannedPart, 'name'>): string {
  if (digest !== null) return `the ${algorithm} digest ${digest}`;
  return `a ${algorithm} digest that depends on the signatures in it`;
}

function insideText(file: InsideOutcome): string {
  const location = printable(file.location);
  return `${location}: ${file.status === 'planned' ? digestText(file) : 'already signed, and kept'}`;
}

function unitText({ name, record, reused, timestamp }: SignedPart): string {
  const details = [
    ...(record === null ? [] : [`record ${printable(record)}`]),
    ...(reused ? ['signature of an earlier call'] : []),
    ...(timestamp === null ? [] : [`timestamp ${timestamp}`]),
  ];
  return `${printable(name)}: ${details.join(', ')}`;
}

function signersLines(word: string, signers: readonly string[]): readonly string[] {
  return signers.map((signer) => `${word} the signature of "${printable(signer)}"`);
}

interface RunFigures {
  readonly signatures: number;
  readonly requested: ReadonlySet<string>;
  readonly milliseconds: number;
}

/**
 * Example: `20 files: 18 signed (2 with a signature that was there already), 1 skipped, 1 failed; 16 signatures used;
 * 12.3 s`
 */
export function totalLine(files: readonly FileOutcome[], verb: ChangeVerb, figures: RunFigures): string {
  const words = files.map(wordOf);
  const isPlan = words.includes('planned');
  const reused = files.filter((file) => file.status === 'signed' && file.reused).length;
  const notes = {
    signed: reused === 0 ? '' : ` (${reused} with a signature that was there already)`,
    kept: ' (signed by others)',
  };
  const counts = [verb, 'unchanged', 'planned', 'kept', 'skipped', 'failed', 'not tried'].flatMap((word) => {
    const count = words.filter((one) => one === word).length;
    if (count === 0 && (word !== verb || isPlan)) return [];
    return [`${count} ${word}${notes[word as keyof typeof notes] ?? ''}`];
  });
  const signatures = isPlan ? plannedText(files) : usedText(files, figures);
  return [
    `${plural(files.length, 'file')}: ${counts.join(', ')}`,
    ...(verb === 'signed' ? [signatures] : []),
    `${(figures.milliseconds / 1000).toFixed(1)} s`,
  ].join('; ');
}

/** Files with the same content need only one request. */
function plannedText(files: readonly FileOutcome[]): string {
  const requests = files.flatMap((file) => {
    if (file.status !== 'planned') return [];
    const inner = (file.inner ?? []).map(({ digest }) => digest);
    const inside = (file.inside ?? []).flatMap((one) => (one.status === 'planned' ? [one.digest ?? one.location] : []));
    const units = file.units?.map(({ digest }) => digest) ?? [file.digest ?? [...inner, ...inside].join()];
    return [...inner, ...inside, ...units];
  });
  return `dry run: ${plural(new Set(requests).size, 'signature')} would be requested; nothing was sent or written`;
}

function usedText(files: readonly FileOutcome[], { signatures, requested }: RunFigures): string {
  const isUncertain = (file: FileOutcome): boolean =>
    file.status === 'failed' && requested.has(file.path) && mayHaveBeenCounted(file.error);
  const uncertain = files.filter(isUncertain).length;
  return `${plural(signatures, 'signature')} used${uncertain > 0 ? `, perhaps ${uncertain} more` : ''}`;
}

export function summaryTable(files: readonly FileOutcome[], total: string): SummaryTable {
  const rows = files.map((file) => [file.path, wordOf(file), rowOf(file).details.join(', ')]);
  return { heading: total, columns: ['File', 'Outcome', 'Details'], rows };
}

export function changesJson({ files, warnings }: ChangeFilesResult, verb: ChangeVerb) {
  const counts: Record<string, number> = { [verb]: 0, skipped: 0, failed: 0 };
  for (const { status } of files) counts[status] = (counts[status] ?? 0) + 1;
  const summary = { ...counts, notAttempted: files.filter(isNotAttempted).length };
  return { files: files.map(fileJson), summary, warnings };
}

function fileJson(outcome: FileOutcome) {
  const { path, format, status, warnings, ...members } = outcome;
  return { path, format, status, ...members, ...otherNames(outcome), warnings };
}

function otherNames(outcome: FileOutcome) {
  if (outcome.status === 'failed') return { error: errorJson(outcome.error) };
  return outcome.status === 'timestamped' ? { authority: undefined, timestampAuthority: outcome.authority } : {};
}
