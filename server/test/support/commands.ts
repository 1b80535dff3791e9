/** The server's command line in the test's process. */

import type { Command } from 'commander';
import { buildProgram, run } from '../../src/cli/program.ts';

/** Runs one administration command, at a terminal or not. A server stops as soon as it listens. */
export async function adminCommand(args: readonly string[], atTerminal = false) {
  const result = { output: '', errors: '', shown: '' };
  const surroundings = surroundingsOf(result, atTerminal);
  const code = await run(args, surroundings, async () => {});
  return { code, ...result };
}

function surroundingsOf(result: { output: string; errors: string; shown: string }, atTerminal: boolean) {
  const write = (kind: keyof typeof result) => (text: string) => {
    result[kind] += text;
  };
  return {
    environment: process.env,
    now: () => new Date(),
    announce: (line: string) => write('output')(`${line}\n`),
    log: { write: write('errors') },
    terminal: atTerminal ? write('shown') : undefined,
  };
}

/** Every command that does something, by its words. */
export function allCommands(): readonly (readonly [string, Command])[] {
  const below = (command: Command, words: readonly string[]): readonly (readonly [string, Command])[] =>
    command.commands.length === 0
      ? [[words.join(' '), command]]
      : command.commands.flatMap((each) => below(each, [...words, each.name()]));
  return below(
    buildProgram(surroundingsOf({ output: '', errors: '', shown: '' }, false), async () => {}),
    [],
  );
}
