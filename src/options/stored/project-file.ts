/** The project's settings: one file for everybody who works on it, so one that may say how to sign, and never where credentials go. */

import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAtOrBelow } from '../../bytes/trusted-paths.ts';
import { settingsErrors } from '../errors.ts';
import { PROJECT_FILE, type Stored } from '../lookup.ts';
import { isSettingKey, isStoredIn, PROJECT_KEYS, type SettingKey } from '../table.ts';
import { readJsonFile, shownKey } from './json-file.ts';
import { damaged, textOf, unknownKey } from './stored-values.ts';

const WHERE_CREDENTIALS_GO = 'a cloned repository must not choose where credentials go';
const WHAT_IS_TRUSTED = 'a cloned repository must not choose whom this machine trusts';
const WHAT_IS_USED = 'a cloned repository must not choose which certificate is used, and paid for';
const WHOSE_CHOICE = 'only the user who signs can choose it';

/** Keys that users may try, with the reason against each. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['baseUrl', WHERE_CREDENTIALS_GO],
  ['environment', WHERE_CREDENTIALS_GO],
  ['environments', WHERE_CREDENTIALS_GO],
  ['profile', WHERE_CREDENTIALS_GO],
  ['proxy', WHERE_CREDENTIALS_GO],
  ['caFile', WHAT_IS_TRUSTED],
  ['timestampRoots', WHAT_IS_TRUSTED],
  ['code', WHAT_IS_USED],
  ['certificate', WHAT_IS_USED],
]);

export interface ProjectSearch {
  /** Where the search begins. */
  readonly folder: string;
  /** Undefined for a user without one. */
  readonly home: string | undefined;
}

/**
 * Undefined without one. Throws `project-setting-refused`, `setting-unknown`, `setting-is-secret`, or
 * `settings-file-unreadable`, `-exposed`, `-damaged`.
 */
export async function readProjectFile(place: ProjectSearch): Promise<Stored['project']> {
  for (const folder of await foldersToLookIn(place)) {
    const path = join(folder, PROJECT_FILE);
    const content = await readJsonFile(path, { rootTakesAny: false });
    if (content === undefined) continue;
    const values = new Map<SettingKey, readonly string[]>();
    for (const [key, value] of Object.entries(content)) {
      if (key !== '$schema') values.set(projectKey(key, path), readValue(key, value, path));
    }
    return { path, values };
  }
  return undefined;
}

/**
 * Upward until the repository's root or the home folder, both among them. Where neither is above, only the folder itself:
 * a file further up, in /tmp say, is not the project's.
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
  const known = isSettingKey(key) ? WHOSE_CHOICE : undefined;
  const reason = REFUSED.get(key) ?? known;
  const allowed = PROJECT_KEYS.join(', ');
  if (reason !== undefined) throw settingsErrors('project-setting-refused', { path, key, reason, allowed });
  throw unknownKey(key, PROJECT_KEYS, path);
}

function readValue(key: string, value: unknown, path: string): readonly string[] {
  if (!isSettingKey(key)) throw damaged(path, `has no setting "${shownKey(key)}"`);
  const texts = textOf(value, key, path);
  if (key === 'output') for (const text of texts) refuseOutside(text, path);
  return texts;
}

/** What a repository brings along may not be written over the files of its user. */
function refuseOutside(output: string, path: string): void {
  if (!isAtOrBelow(output, dirname(path))) {
    throw damaged(path, 'has an "output" that is not below the folder it is in');
  }
}
