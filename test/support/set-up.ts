/** What tests work with, made when it is needed and removed after the last test that uses it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from 'vitest';

const newFolder = () => mkdtempSync(join(tmpdir(), 'codesign-test-'));
const removeFolder = async (folder: string) => rmSync(folder, { recursive: true, force: true });

/** A folder for all tests of the file, or of the `describe` in which it is called. */
export function folderForAll(): string {
  const folder = newFolder();
  afterAll(() => removeFolder(folder));
  return folder;
}

interface TestFolder {
  readonly path: string;
  at(...names: readonly string[]): string;
}

export function folderForEach(): TestFolder {
  return forEach(async () => {
    const path = newFolder();
    return {
      path,
      at: (...names: readonly string[]) => join(path, ...names),
      [Symbol.asyncDispose]: () => removeFolder(path),
    };
  });
}

/** A new object for each test. The members of what is returned are those of the test that runs. */
export function forEach<T extends AsyncDisposable>(make: () => Promise<T>): T {
  const current = {} as T;
  beforeEach(async () => {
    Object.assign(current, await make());
  });
  afterEach(() => current[Symbol.asyncDispose]());
  return current;
}

/** Waits for what all tests of the file use, and ends it after them. */
export async function forAll<T extends AsyncDisposable | { stop(): Promise<unknown> }>(made: Promise<T>): Promise<T> {
  const one = await made;
  afterAll(async () => void (await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]())));
  return one;
}
