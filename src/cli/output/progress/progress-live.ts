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
/** The spinner, the spaces around it, and the last column, after which some terminals wrap. */
const TAKEN_COLUMNS = 4;
const INTERVAL_MILLISECONDS = 100;

interface Shown {
  parts(): readonly string[];
  elapsedSeconds(): number;
}

/** Standard error must be a terminal. Returns a function that removes the line. */
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
    // Raw mode would discard what the user types ahead, and disable Ctrl-Z.
    discardStdin: false,
    // A killed process could not restore a hidden cursor.
    hideCursor: false,
    // ora and `hasColour` read different environment variables.
    color: false,
    spinner: { frames: symbols.frames.map(frame) },
    interval: INTERVAL_MILLISECONDS,
    // The text is computed for each frame, because the user may resize the terminal.
    suffixText: text,
  });
  // With 0 columns, ora counts lines in an endless loop.
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
