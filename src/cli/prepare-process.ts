import { lstatSync, statSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { isExecutable } from '../bytes/executable.ts';
import { makeFolders } from '../bytes/folders.ts';
import { cacheFolder, homeFolder } from '../bytes/platform-folders.ts';

/**
 * V8 flags that delay optimization, because most runs end before optimized code saves time. For 300 programs of 12 KB,
 * they save 11% of the processor time with Node.js 20, and 5% to 15% with later versions. Keyed by the version of V8,
 * because V8 prints an error for an unknown flag.
 */
const OPTIMIZE_LATER: Readonly<Record<string, readonly string[]>> = {
  '11.3': ['--interrupt-budget=1000000'],
  '12.4': ['--invocation-count-for-turbofan=30000'],
  '13.6': ['--invocation-count-for-turbofan=30000', '--invocation-count-for-maglev=4000'],
  '14.6': ['--invocation-count-for-turbofan=30000', '--invocation-count-for-maglev=4000'],
};

/**
 * Modules of Node.js to load before the V8 flags change. Node.js contains compiled code for these modules and their
 * imports, but V8 rejects this code after a change of flags. Loading the modules early saves 18% of the processor time
 * of signing or verifying one program of 12 KB. Other commands need few of them.
 */
const NEEDED_EARLY = ['assert', 'child_process', 'crypto', 'http', 'tls', 'worker_threads'];

/** Tunes V8 for short runs, before most of the program is loaded. */
export async function prepareProcess(command: string | undefined): Promise<void> {
  if (command === 'sign' || command === 'verify') {
    for (const name of NEEDED_EARLY) process.getBuiltinModule(name);
  }
  // Collects garbage earlier: with Node.js 20, an archive of 100,000 entries needs 206 MiB instead of 282 MiB, but 10%
  // more time.
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--semi-space-growth-factor=1');
  // Does not let V8 optimize undici's WebAssembly: with Node.js 20, signing a small file needs 64 MiB instead of 99 MiB,
  // and 50 ms less.
  setFlagsFromString('--liftoff-only');
  const [version = ''] = /^\d+\.\d+/.exec(process.versions.v8) ?? [];
  for (const flag of OPTIMIZE_LATER[version] ?? []) setFlagsFromString(flag);
  await keepCompiledCode(process.env, enableCompileCache && keepAllFunctions(enableCompileCache));
}

type Enable = (folder: string) => unknown;
/** Node.js 22.8 and later. */
const { enableCompileCache } = module as typeof module & { readonly enableCompileCache?: Enable };

/**
 * The cache contains only functions that V8 compiles when it loads their file. By default, V8 compiles a function on its
 * first call. Caching all functions saves 17% of the processor time of signing one program of 12 KB. The first run, which
 * fills the cache, needs 7% more.
 */
function keepAllFunctions(enable: Enable): Enable {
  return (folder) => {
    setFlagsFromString('--no-lazy');
    enable(folder);
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Without this cache, a run takes about a third longer. Node.js itself handles NODE_DISABLE_COMPILE_CACHE and
 * NODE_COMPILE_CACHE.
 */
export async function keepCompiledCode(environment: Environment, enable: Enable | undefined): Promise<void> {
  const { NODE_COMPILE_CACHE, NODE_DISABLE_COMPILE_CACHE } = environment;
  if (isExecutable() || enable === undefined || NODE_COMPILE_CACHE || NODE_DISABLE_COMPILE_CACHE) return;
  const cache = cacheFolder({ environment, platform: process.platform, home: homeFolder() });
  const folder = cache && join(cache, 'compiled');
  if (folder !== undefined && (await isPrivate(folder))) enable(folder);
}

/** Node.js runs the cached code, so no other user may write to the folder. */
async function isPrivate(folder: string): Promise<boolean> {
  try {
    if (!isOwn(ownerOf(folder))) return false;
    await makeFolders(folder, 0o700);
    const stats = lstatSync(folder);
    if (process.platform === 'win32') return stats.isDirectory();
    return stats.isDirectory() && isOwn(stats.uid) && (stats.mode & 0o022) === 0;
  } catch {
    return false;
  }
}

function ownerOf(folder: string): number {
  const stats = statSync(folder, { throwIfNoEntry: false });
  const parent = dirname(folder);
  return stats === undefined && parent !== folder ? ownerOf(parent) : (stats?.uid ?? -1);
}

/** On Windows, the operating system protects the cache folder. */
function isOwn(uid: number): boolean {
  const user = process.geteuid?.();
  return user === undefined || user === uid;
}
