/** Runs dependency-cruiser with the repository's rules over a tree, and a copy of the tree to break them in. */

import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { ROOT } from './source-files.ts';

export const FOLDERS = ['src', 'server/src', 'server/conformance'];

/** Checks src, server/src and server/conformance of a tree by .dependency-cruiser.cjs. */
export async function cruise(root: string) {
  const script = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [script, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', ...FOLDERS];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const { modules, summary } = (await json(child.stdout)) as Report;
  return {
    /** TypeScript files of the three folders that were read. */
    modules: modules
      .map(({ source }) => source)
      .filter((source) => source.endsWith('.ts') && FOLDERS.some((folder) => source.startsWith(`${folder}/`))),
    violations: summary.violations.map(({ from, to, rule }) => ({
      from,
      to,
      rule: rule.name,
      severity: rule.severity,
    })),
  };
}

interface Report {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string; readonly severity: string };
    }[];
  };
}

/** A copy of the tree, in a new temporary folder, with the given files added to it. */
export async function plantedTree(files: Readonly<Record<string, string>>): Promise<string> {
  const copy = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-planted-'));
  for (const name of ['src', 'server', 'test', 'package.json', 'tsconfig.json', '.dependency-cruiser.cjs']) {
    await cp(path.join(ROOT, name), path.join(copy, name), {
      recursive: true,
      filter: (source) => path.basename(source) !== 'node_modules',
    });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'), 'junction');
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(copy, name)), { recursive: true });
    await writeFile(path.join(copy, name), text);
  }
  return copy;
}
