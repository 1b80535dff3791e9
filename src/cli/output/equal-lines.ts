import { INDENT, type Lines, shown } from './lines.ts';

/** A failure or warning of a file. */
interface FileLine {
  readonly word: 'failed' | 'warning';
  readonly path: string;
  /** Printable; equal for all files of a group. */
  readonly text: string;
  /** Tells groups with the same text apart. */
  readonly key?: string | undefined;
  /** Printable lines below that of the other files. Equal for all files of a group. */
  readonly below?: readonly string[];
}

interface Group {
  readonly line: FileLine;
  /** Paths of the first files after the one that was printed. */
  readonly others: string[];
  count: number;
}

/** One line names so many files at most. */
const MOST_NAMES = 10;

/** Groups lines that differ in the file only. The first is printed immediately, the others together at the end. */
export function groupEqual(lines: Lines) {
  const groups = new Map<string, Group>();

  function printOthers({ line: { word, text, below = [] }, others, count }: Group): void {
    if (count === 0) return;
    const more = count - others.length;
    const names = others.map(shown).join(', ') + (more > 0 ? ` and ${more.toLocaleString('en-US')} more` : '');
    const line = `${word.padEnd(INDENT.length)}${names}: ${text}`;
    if (word === 'failed') lines.print(line, below);
    else lines.progress(line);
  }

  return {
    /** Returns whether the line is the first of its group: then the caller prints it. */
    isFirst(line: FileLine): boolean {
      const key = JSON.stringify([line.word, line.text, line.key, line.below]);
      const group = groups.get(key);
      if (group === undefined) {
        groups.set(key, { line, others: [], count: 0 });
        return true;
      }
      group.count += 1;
      if (group.others.length < MOST_NAMES) group.others.push(line.path);
      return false;
    },
    /** Every file was named already with --verbose. */
    printOthers(): void {
      if (!lines.options.verbose) for (const group of groups.values()) printOthers(group);
      groups.clear();
    },
  };
}

export type EqualLines = ReturnType<typeof groupEqual>;
