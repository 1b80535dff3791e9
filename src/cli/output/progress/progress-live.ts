/** The live line: one for the whole run, below the lines of finished files, gone when the run is over. */

import { styleText } from 'node:util';
import ora from 'ora';
import type { Io } from '../../io.ts';
import { columnsOf, hasColour, isTerminal, isUnicode } from '../terminal.ts';
import { fitted } from '../terminal-width.ts';
import { LEAST_COLUMNS } from './progress-mode.ts';
import type { ProgressState } from './progress-state.ts';

interface Symbols {
  readonly frames: readonly string[];
  readonly between: string;
  readonly ellipsis: string;
}

const UNICODE: Symbols = { frames: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'], between: ' · ', ellipsis: '…' };
const ASCII: Symbols = { frames: [...'-\\|/'], between: ', ', ellipsis: '...' };
/** What the spinner and the blanks behind it take; and the last column, in which some terminals go on to the next line. */
const TAKEN_COLUMNS = 4;
const INTERVAL_MILLISECONDS = 100;

/** Standard error must be a terminal. Gives what ends it. */
export function startLiveLine(state: ProgressState, { stderr, env }: Io): () => void {
  const symbols = isUnicode(env) ? UNICODE : ASCII;
  const isColoured = hasColour(stderr, env);
  const frame = (text: string): string => (isColoured ? styleText('cyan', text, { validateStream: false }) : text);
  const text = (): string =>
    fitted(state.parts().join(symbols.between), columnsOf(stderr) - TAKEN_COLUMNS, symbols.ellipsis);
  const spinner = ora({
    stream: stderr,
    isEnabled: true,
    // Raw mode would swallow what is typed ahead, and Ctrl-Z.
    discardStdin: false,
    // A process that is killed could not give the cursor back.
    hideCursor: false,
    // It would look at the environment with rules of its own.
    color: false,
    spinner: { frames: symbols.frames.map(frame) },
    interval: INTERVAL_MILLISECONDS,
    // Asked for at every frame, so that it fits the terminal as it is then.
    suffixText: text,
  });
  // On a terminal without columns it would count lines for ever.
  const follow = (): void => {
    if (columnsOf(stderr) < LEAST_COLUMNS) spinner.stop();
    else spinner.start();
  };
  follow();
  if (isTerminal(stderr)) stderr.on('resize', follow);
  return () => {
    stderr.off('resize', follow);
    spinner.stop();
  };
}
