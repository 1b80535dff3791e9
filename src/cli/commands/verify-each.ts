import type { InputPath } from '../input/inputs.ts';
import type { Progress } from '../output/progress/progress.ts';

export const WORDS = { doing: 'verifying', done: 'verified' };

export async function verifyEach(
  inputs: readonly InputPath[],
  progress: Progress,
  verifyInput: (input: InputPath) => Promise<void>,
): Promise<void> {
  progress.event({ type: 'files-planned', paths: inputs.map(({ path }) => path) });
  for (const input of inputs) {
    const { path } = input;
    progress.event({ type: 'file-started', path });
    await verifyInput(input);
    progress.event({ type: 'file-finished', path, word: 'verified' });
  }
}
