/** Signed copies of files in a folder, for programs that are not ours. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';
import { makeThrowawaySigner, type ThrowawaySignerOptions } from '../../../support/signed-files/throwaway-signer.ts';
import { type SignBytesOptions, signBytes } from './sign-bytes.ts';

export type SignedCopies = Awaited<ReturnType<typeof signedCopies>>;
export type SignedCopy = Awaited<ReturnType<SignedCopies['sign']>>;

/** `root` is a PEM file. */
export async function signedCopies(options: ThrowawaySignerOptions = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-copies-'));
  const signer = await makeThrowawaySigner(options);
  const root = path.join(folder, 'root.pem');
  writeFileSync(root, signer.root);
  let count = 0;
  return {
    folder,
    root,
    /** The path of a signed copy; its CMS is in `PATH.cms`. With the code of the error if the file is rejected. */
    async sign(name: string, bytes: Buffer, options: SignBytesOptions = {}) {
      count += 1;
      const target = path.join(folder, String(count), path.basename(name));
      mkdirSync(path.dirname(target));
      try {
        const format = await recogniseFormat(memorySource(bytes), [name], { formats });
        const { result, sealed } = await signBytes(format, bytes, signer, { name, ...options });
        writeFileSync(target, result);
        writeFileSync(`${target}.cms`, sealed);
        return { name, path: target, code: undefined };
      } catch (thrown) {
        if (thrown instanceof CodesignError) return { name, path: target, code: thrown.code };
        throw thrown;
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

/** Files of a folder and those below it, by a filter over their names. */
export function filesBelow(folder: string, isWanted: (name: string) => boolean): { name: string; bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isWanted(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((name) => ({ name, bytes: readFileSync(name) }));
}
