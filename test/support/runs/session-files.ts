/** The committed sessions. Pipe and terminal run the same scripts; the other folders show what differs elsewhere. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../programs/cli.ts';
import { readScript, type Script } from './sessions.ts';

const FOLDER = join(REPOSITORY, 'test/system/cli/sessions/recorded');

/** `npm test` runs the most common commands with output to a pipe, and single cases. The rest runs in `test:long`. */
export const QUICK_SESSIONS: readonly string[] = [
  ...sessionsIn('cases'),
  'pipe/catalog.txt',
  'pipe/history.txt',
  'pipe/sign.txt',
  'pipe/verify.txt',
];

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
