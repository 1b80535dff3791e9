/**
 * Shows a single line for the whole run, below the lines of finished files. The line is removed at the end of the run.
 */

import { styleText } from 'node:util';
import ora from 'ora';
import type { Io } from '../../io.ts';
import { columnsOf, hasColour, isTerminal, isUnicode, LEAST_LIVE_COLUMNS } from '../terminal.ts';
import { fitted } from '../text-layout.ts';

interface Symbols {
  readonly frames: readonly string[];
  readonly between: string;
  readonly ellipsis: string;
}

const UNICODE: Symbols = { frames: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], between: ' · ', ellipsis: '…' };
const ASCII: Symbols = { frames: [...'-\\|/'], between: ', ', ellipsis: '...' };
/**
 * Columns that the spinner, the spaces around it, and the last column take. Some terminals wrap after the last column.
 */
const TAKEN_COLUMNS = 4;
const INTERVAL_MILLISECONDS = 100;

interface Shown {
  parts(): readonly string[];
  elapsedSeconds(): number;
}

/** Standard error must be a terminal. Returns a function that removes the live line. */
export function startLiveLine(state: Shown, { stderr, env }: Io): () => void {
  const symbols = isUnicode(env) ? UNICODE : ASCII;
  const isColoured = hasColour(stderr, env);
  const frame = (text: string): string => (isColoured ? styleText('cyan', text, { validateStream: false }) : text);
  const text = (): string =>
    fitted(
      [...state.parts(), `${state.elapsedSeconds()} s`].join(symbols.between),
      columnsOf(stderr) - TAKEN_COLUMNS,
      symbols.ellipsis,
    );
  const spinner = ora({
    stream: stderr,
    isEnabled: true,
    // Raw mode would discard input that the user typed ahead, and Ctrl-Z would have no effect.
    discardStdin: false,
    // If the process is killed, it cannot restore a hidden cursor.
    hideCursor: false,
    // ora reads environment variables that `hasColour` does not read.
    color: false,
    spinner: { frames: symbols.frames.map(frame) },
    interval: INTERVAL_MILLISECONDS,
    // Computed for each frame, because the user may resize the terminal.
    suffixText: text,
  });
  // If a terminal has 0 columns, ora counts lines in an endless loop.
  const follow = (): void => {
    if (columnsOf(stderr) < LEAST_LIVE_COLUMNS) spinner.stop();
    else spinner.start();
  };
  follow();
  if (isTerminal(stderr)) stderr.on('resize', follow);
  return () => {
    stderr.off('resize', follow);
    spinner.stop();
  };
}
