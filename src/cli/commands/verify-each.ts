import type { InputPath } from '../input/inputs.ts';
import type { Progress } from '../output/progress/progress.ts';

export interface Reporting<Result> {
  readonly progress: Progress;
  readonly onVerified: (input: InputPath, result: Result) => void;
}

export const WORDS = { doing: 'verifying', done: 'verified' };

export function reportReads(progress: Progress) {
  return (path: string, bytes: number, size: number): void => progress.event({ type: 'bytes-read', path, bytes, size });
}

export async function verifyEach<Result>(
  inputs: readonly InputPath[],
  verifyInput: (input: InputPath) => Promise<Result>,
  { progress, onVerified }: Reporting<Result>,
): Promise<void> {
  progress.event({ type: 'files-planned', paths: inputs.map(({ path }) => path) });
  for (const input of inputs) {
    const { path } = input;
    progress.event({ type: 'file-started', path });
    const result = await verifyInput(input);
    progress.event({ type: 'file-finished', path, word: 'verified' });
    onVerified(input, result);
  }
}
