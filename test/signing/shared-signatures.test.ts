/** What files that share a signature leave behind, in one run and in several at once: nothing unwritten, and one report. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signFiles } from '../../src/signing/sign-files.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';

let scene: JournalScene;
beforeEach(async () => {
  scene = await journalScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

describe('several runs at the very same file', () => {
  it('leave nothing unfinished: one writes it, and the signature is reported as used', async () => {
    const file = await scene.program('app.exe');
    const journals = await Promise.all([scene.open(), scene.open(), scene.open()]);

    const results = await Promise.all(journals.map((journal) => signFiles([file], scene.signing(journal))));

    const [first] = journals;
    expect(results.some(({ summary }) => summary.signed > 0)).toBe(true);
    expect(scene.service.asked).toBe(1);
    expect(await first?.unfinished()).toEqual([]);
    expect(new Set(scene.service.reports.map(([, status]) => status))).toEqual(new Set([1]));
  });
});
