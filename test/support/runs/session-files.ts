/** The committed sessions: a folder for each of the surroundings, with the same scripts in all of them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../programs/cli.ts';
import { readScript, type Script } from './sessions.ts';

const FOLDER = join(REPOSITORY, 'test/system/cli/sessions/recorded');

/** Each is in all of these; what is in others stands for itself. */
export const SURROUNDINGS_FOLDERS = [
  'pipe',
  'terminal-80',
  'terminal-40',
  'terminal-0',
  'ci',
  'no-color',
  'dumb',
] as const;

/** Their names, `pipe/sign.txt`. */
export function sessionsIn(surroundings: string): readonly string[] {
  return readdirSync(join(FOLDER, surroundings))
    .sort()
    .map((name) => `${surroundings}/${name}`);
}

export function sessionPath(name: string): string {
  return join(FOLDER, name);
}

export function readSession(name: string): Script {
  return readScript(readFileSync(sessionPath(name), 'utf8'));
}
