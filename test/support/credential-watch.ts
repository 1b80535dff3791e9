/** Searches everything that tests print and leave for the credentials of every run and every server. */

import { createHash } from 'node:crypto';
import {
  closeSync,
  type Dirent,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { createSearch, formsOf, type KnownCredentials, type Search } from './secret-search.ts';
import { SHARED_FOLDER_VARIABLE } from './shared-folder.ts';

/** The only files that may hold credentials, and why. */
const RIGHTFUL: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /[/\\]client\.env$/, why: 'the server hands the credentials over in it' },
  { path: /[/\\]config[/\\]credentials\.json$/, why: 'login --store file writes it' },
  {
    path: /[/\\]with-credentials[/\\]codesign-remote\.config\.json$/,
    why: 'a test puts them into a project file, which the program refuses',
  },
];

/** Of a longer file its beginning and its end are searched, so much of each. */
const MOST = 16 * 1024 * 1024;
const REGISTRY = 'credentials';

/** Digests of those that this process knows. */
const watched = new Set<string>();
const ofWatched = createSearch();
/** In which state a file was found without any, by its path. */
const searched = new Map<string, string>();

/** From now on they are looked for: in this process, and in what remains of the whole run. */
export function watchCredentials(credentials: KnownCredentials): void {
  if (credentials.accessSecret === '') return;
  const name = createHash('sha256').update(JSON.stringify(credentials)).digest('hex');
  if (watched.has(name)) return;
  watched.add(name);
  ofWatched.add(formsOf(credentials));
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  if (shared === undefined) return;
  const { accessKey, accessSecret } = credentials;
  mkdirSync(join(shared, REGISTRY), { recursive: true, mode: 0o700 });
  writeFileSync(join(shared, REGISTRY, name), JSON.stringify({ accessKey, accessSecret }), { mode: 0o600 });
}

/** Throws when one of the watched credentials is in one of the texts, by name, or below one of the folders. */
export async function mustHoldNoCredentials(
  texts: Readonly<Record<string, string>>,
  folders: readonly string[] = [],
): Promise<void> {
  const found = Object.entries(texts).flatMap(([name, text]) => foundIn(name, Buffer.from(text), ofWatched));
  for (const folder of folders) found.push(...foundBelow(folder, ofWatched, searched));
  if (found.length > 0) throw leak(found);
}

/** The same for what remains of a whole run, and for all credentials that any of its processes has watched. */
export async function mustLeaveNoCredentials(shared: string): Promise<void> {
  const registry = join(shared, REGISTRY);
  const names = entriesOf(registry).map(({ name }) => name);
  const search = createSearch();
  for (const name of names) search.add(formsOf(JSON.parse(readFileSync(join(registry, name), 'utf8'))));
  const found = foundBelow(shared, search, new Map(), (path) => path === registry);
  if (found.length > 0) throw leak(found);
}

export interface WatchedRun {
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly stdin?: string;
  readonly cwd?: string | undefined;
}

/**
 * Watches the credentials that a run of the program is given. What it gives back is to be called after the run with what
 * was printed; it searches that, and the folders of the run.
 */
export function watchRun(run: WatchedRun): (printed: Readonly<Record<string, string>>) => Promise<void> {
  const { env, args = [], stdin = '', cwd = '' } = run;
  for (const credentials of credentialsGiven(env, args, stdin)) watchCredentials(credentials);
  return (printed) => mustHoldNoCredentials(printed, foldersNamed([cwd, ...args, ...Object.values(env)]));
}

function credentialsGiven(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  stdin: string,
): readonly KnownCredentials[] {
  const { CODESIGN_ACCESS_KEY: key = '', CODESIGN_ACCESS_SECRET: secret = '' } = env;
  const inFile = secretIn(env.CODESIGN_ACCESS_SECRET_FILE);
  const typed = args[0] === 'login' ? [stdin.replace(/\r?\n$/, '')] : [];
  const keys = [key, ...args.filter((_, index) => args[index - 1] === '--access-key')];
  const own = keys.flatMap((accessKey) =>
    [secret, inFile, ...typed].map((accessSecret) => ({ accessKey, accessSecret })),
  );
  const proxies = Object.entries(env).filter(([name]) => /^(https?|all)_proxy$/i.test(name));
  return [...own, ...proxies.flatMap(([, address]) => credentialsInAddress(address))].filter(
    ({ accessSecret }) => accessSecret !== '',
  );
}

/** The folders of tests, below the temporary folder, that some of the texts name. */
function foldersNamed(texts: readonly string[]): readonly string[] {
  const root = tmpdir() + sep;
  const names = texts
    .flatMap((text) => text.split(root).slice(1))
    .map((rest) => /^[^/\\:;,'" \n]*/.exec(rest)?.[0] ?? '');
  return [...new Set(names)].filter((name) => name !== '').map((name) => root + name);
}

function secretIn(path: string | undefined): string {
  try {
    return path ? readFileSync(path, 'utf8').replace(/\r?\n$/, '') : '';
  } catch {
    // Tests name files that are not there, too.
    return '';
  }
}

function credentialsInAddress(address: string): readonly KnownCredentials[] {
  if (!URL.canParse(address)) return [];
  const { username, password } = new URL(address);
  return [{ accessKey: decodeURIComponent(username), accessSecret: decodeURIComponent(password) }];
}

// Without promises: each would take longer than its call, and what a run of the program leaves is many small files.
function foundBelow(
  folder: string,
  search: Search,
  before: Map<string, string>,
  isLeftOut: (path: string) => boolean = () => false,
): readonly string[] {
  const found: string[] = [];
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (isLeftOut(path)) continue;
    if (entry.isDirectory()) found.push(...foundBelow(path, search, before, isLeftOut));
    else if (entry.isFile()) found.push(...foundInFile(path, search, before));
    found.push(...foundIn(`the name ${path}`, Buffer.from(entry.name), search));
  }
  return found;
}

/** A folder that is removed or closed to this user meanwhile counts as empty. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function foundInFile(path: string, search: Search, before: Map<string, string>): readonly string[] {
  if (RIGHTFUL.some((rightful) => rightful.path.test(path))) return [];
  try {
    const { size, mtimeMs, ctimeMs, ino } = statSync(path);
    const state = [size, mtimeMs, ctimeMs, ino, watched.size].join();
    if (before.get(path) === state) return [];
    const found = foundIn(path, size > 2 * MOST ? endsOf(path, size) : readFileSync(path), search);
    if (found.length === 0) before.set(path, state);
    return found;
  } catch {
    return []; // as in entriesOf
  }
}

function endsOf(path: string, size: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const [head, tail] = [Buffer.alloc(MOST), Buffer.alloc(MOST)];
    readSync(file, head, 0, MOST, 0);
    readSync(file, tail, 0, MOST, size - MOST);
    return Buffer.concat([head, tail]);
  } finally {
    closeSync(file);
  }
}

function foundIn(place: string, bytes: Buffer, search: Search): readonly string[] {
  return search.formsIn(bytes).map((form) => `${place}: ${form}`);
}

function leak(found: readonly string[]): Error {
  return new Error(`credentials are where they must not be:\n${found.join('\n')}`);
}
