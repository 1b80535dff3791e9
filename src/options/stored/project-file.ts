import { lstatSync, type Stats } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isAtOrBelow } from '../../bytes/folders.ts';
import { settingsErrors } from '../errors.ts';
import { PROJECT_FILE, type Stored } from '../lookup.ts';
import { isSettingKey, isStoredIn, PROJECT_KEYS, type SettingKey } from '../table.ts';
import { readJsonFile } from './json-file.ts';
import { damaged, textOf, unknownKey } from './stored-values.ts';

/**
 * Settings that users may try to put into a project file, grouped by the reason why a cloned repository must not set
 * them.
 */
const REFUSED = {
  'where credentials go': ['baseUrl', 'environment', 'environments', 'profile', 'proxy'],
  'whom this machine trusts': ['caFile', 'timestampRoots'],
  'which certificate is used, and paid for': ['code', 'certificate'],
};

interface ProjectSearch {
  readonly folder: string;
  readonly home: string | undefined;
}

export async function readProjectFile(place: ProjectSearch): Promise<Stored['project']> {
  for (const folder of await foldersToLookIn(place)) {
    const path = join(folder, PROJECT_FILE);
    const content = await readJsonFile(path, { rootTakesAny: false });
    if (content === undefined) continue;
    const values = new Map<SettingKey, readonly string[]>();
    for (const [key, value] of Object.entries(content)) {
      if (key === '$schema') continue;
      const setting = projectKey(key, path);
      const texts = textOf(value, setting, path);
      if (setting === 'output') for (const text of texts) refuseOutside(text, path);
      values.set(setting, texts);
    }
    return { path, values };
  }
  return undefined;
}

/**
 * Searches up to the root of the repository or the home folder. If the folder is in neither of them, searches only this
 * folder: a project file above it, for example in /tmp, may belong to another user.
 */
async function foldersToLookIn({ folder, home }: ProjectSearch): Promise<readonly string[]> {
  const folders: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    folders.push(at);
    if (at === home || (await isThere(join(at, '.git')))) return folders;
    if (dirname(at) === at) return [folder];
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function projectKey(key: string, path: string): SettingKey {
  if (isSettingKey(key) && isStoredIn('project', key)) return key;
  const [refused] = Object.entries(REFUSED).find(([, keys]) => keys.includes(key)) ?? [];
  if (refused === undefined && !isSettingKey(key)) throw unknownKey(key, PROJECT_KEYS, path);
  const reason = refused ? `a cloned repository must not choose ${refused}` : 'only the user who signs can choose it';
  throw settingsErrors('project-setting-refused', { path, key, reason, allowed: PROJECT_KEYS.join(', ') });
}

/** A cloned repository must not decide which files of the user are overwritten. */
function refuseOutside(output: string, path: string): void {
  if (!isAtOrBelow(output, dirname(path))) {
    throw damaged(path, 'has an "output" outside the folder of this file');
  }
}

/**
 * A result must be below the folder of the project file at `path`, outside `.git`, and must not lead through a link. A
 * missing folder is created by this run, so it cannot be a link.
 */
export function checkProjectOutputs(path: string, outputs: readonly string[]): void {
  const folder = dirname(path);
  const checked = new Set<string>();
  for (const output of outputs.map((one) => resolve(one))) {
    const refuse = (reason: string) => settingsErrors('project-output-refused', { path, output, reason });
    if (!isAtOrBelow(output, folder)) throw refuse('this path is outside the folder of the project file');
    let at = folder;
    for (const name of relative(folder, output).split(sep)) {
      at = join(at, name);
      if (checked.has(at)) continue;
      checked.add(at);
      if (isGitFolder(name)) throw refuse(`${at} belongs to git`);
      if (statsOf(at)?.isSymbolicLink()) throw refuse(`${at} is a link`);
    }
  }
}

/** Recognises `.git` in upper case, with ignored characters or a stream name, and its short name on Windows. */
function isGitFolder(name: string): boolean {
  const plain = name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').toLowerCase();
  return /^(?:\.git|git~\d+)[. ]*(?::.*)?$/.test(plain);
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // If part of the path is not a folder, writing the result fails later.
    return undefined;
  }
}
