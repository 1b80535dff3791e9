import { plural } from '../../../errors/plural.ts';
import { printable } from '../../../errors/printable.ts';
import type { FailedOutcome } from '../../../signing/outcome.ts';
import { isNotAttempted } from '../../../signing/run.ts';
import { INDENT, type Lines, oneLine, shown } from '../lines.ts';
import type { ChangeVerb } from './outcomes.ts';

export function failedFiles(lines: Lines, verb: ChangeVerb, resumeCommand: string | undefined) {
  let notTried: FailedOutcome[] = [];
  const resumeLines =
    resumeCommand === undefined ? [] : [`${INDENT}to see its state, and what to do: ${shown(resumeCommand)}`];

  function print(outcome: FailedOutcome, mayHaveBeenCounted: boolean): void {
    const { own, others } = signatureLines(outcome);
    const counted = mayHaveBeenCounted ? resumeLines : [];
    lines.failed(outcome.path, outcome.error, { own: [...counted, ...own], others: [...counted, ...others] });
  }

  function signatureLines({ record, kept }: FailedOutcome) {
    if (record === null) return { own: [], others: [] };
    const user = `the next run, or ${shown(resumeCommand ?? 'codesign-remote resume')}`;
    const [one, many] = kept
      ? [`; it is kept: ${user}, uses it and requests none`, `; they are kept: ${user}, uses them`]
      : ['', ''];
    return {
      own: [`${INDENT}a signature was created already: record ${printable(record)}${one}`],
      others: [`${INDENT}signatures were created already${many}`],
    };
  }

  return {
    /** Prints files that were not attempted at the end, after the failure that ended the run. */
    add(outcome: FailedOutcome, mayHaveBeenCounted: boolean): void {
      if (isNotAttempted(outcome)) notTried.push(outcome);
      else print(outcome, mayHaveBeenCounted);
    },
    printNotTried(): void {
      const [first] = notTried;
      if (first === undefined) return;
      if (lines.options.verbose) for (const { path } of notTried) lines.print(`left     ${shown(path)}`);
      const hint = `${INDENT}hint: ${nextStep(verb, resumeCommand !== undefined)}`;
      lines.print(`left     ${plural(notTried.length, 'file')}: ${oneLine(first.error)}`, [hint]);
      notTried = [];
    },
    printResume(): void {
      for (const line of resumeLines) lines.print(line);
    },
  };
}

function nextStep(verb: ChangeVerb, hasJournal: boolean): string {
  const again = 'Run the same command again';
  if (verb !== 'signed') return `${again}.`;
  if (hasJournal) return `${again}; signatures that were paid for are used.`;
  return `${again} with --skip-signed; without a journal, other files that are signed already would be paid for again.`;
}
