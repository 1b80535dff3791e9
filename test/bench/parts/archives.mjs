// The archives that are signed and verified: a real one from the npm registry, kept in a cache, and made ones in a temporary folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '20261015.0.0';
const SHA256 = '900abe99a5e746c327c67366e67492036f7b88aea561cd67f742a935e230599f';

/** @returns the path of a JAR of 14.6 MB and 7,227 entries, or undefined with a word on stderr when it cannot be acquired. */
export function closureCompiler() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'codesign-remote-bench');
  const kept = join(cache, `closure-compiler-${VERSION}.jar`);
  if (existsSync(kept) && digestOf(kept) === SHA256) return kept;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'fetching-'));
  try {
    const specifier = `google-closure-compiler-java@${VERSION}`;
    const places = ['--pack-destination', folder, '--cache', join(folder, 'npm')];
    const npm = ['pack', specifier, '--loglevel', 'error', '--fetch-retries', '0', ...places];
    const packed = execFileSync('npm', npm, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
    execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder, 'package/compiler.jar'], { stdio: 'pipe' });
    const fetched = join(folder, 'package', 'compiler.jar');
    const digest = digestOf(fetched);
    if (digest !== SHA256) throw new Error(`compiler.jar of ${specifier} has SHA-256 ${digest}, not ${SHA256}`);
    renameSync(fetched, kept);
    return kept;
  } catch (error) {
    const [reason] = String(error.stderr || error.message)
      .trim()
      .split('\n');
    console.error(`LEFT OUT: compiler.jar, which cannot be fetched (${reason}). Offline, put it at ${kept}.`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The made ones, by size. */
export const MADE = {
  large: { entries: 20_000, bytes: 240_000_000 },
  many: { entries: 100_000, bytes: 45_000_000 },
};

/** Makes one in `folder`. @returns its path. */
export function make(folder, { entries, bytes }) {
  const path = join(folder, `${entries}.jar`);
  execFileSync('python3', [
    fileURLToPath(new URL('../make-archive.py', import.meta.url)),
    path,
    `${entries}`,
    `${bytes}`,
  ]);
  return path;
}

const digestOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');
