/** Every signature of the corpus of real programs: read, and checked as osslsigncode checks it. */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AuthenticodeSignature, readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { DIGEST_LENGTH } from '../../../src/crypto/algorithms.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';

const folder = process.env.CODESIGN_TEST_CORPUS;
const files = folder === undefined || folder === '' ? [] : programsIn(folder);

/** Broken on purpose by the corpus: file → the code of the refusal. */
const REFUSED: Readonly<Record<string, string>> = {
  'cert-junk.exe': 'cms-malformed',
  'cert-len-big.exe': 'cms-malformed',
  'signed-truncated-cert.exe': 'cms-malformed',
};

describe.skipIf(folder === undefined || folder === '')('the corpus', () => {
  it('holds signed programs', () => {
    expect(files.length).toBeGreaterThan(25);
  });

  it.each(files)('%s: its signature verifies, and so do those nested in it', (name, bytes) => {
    const read = () => readAuthenticode(bytes);
    const code = REFUSED[path.basename(name)];
    if (code !== undefined) {
      expect(read).toThrow(expect.objectContaining({ code }));
      return;
    }
    for (const signature of withNested(read())) {
      expect(signature.verifies()).toBe(true);
      expect(signature.contentDigest).toHaveLength(DIGEST_LENGTH[signature.algorithm ?? 'SHA1']);
      expect(signature.signerName).not.toBe('');
    }
  });

  it('is read, or rejected with a code, whichever byte is changed', () => {
    for (const [, bytes] of files) {
      for (let place = 0; place < bytes.length; place += 13) {
        const changed = Uint8Array.from(bytes);
        changed[place] = (changed[place] ?? 0) ^ 0xa5;
        try {
          readAuthenticode(changed);
        } catch (error) {
          if (!(error instanceof CodesignError) || error.category !== 'local') throw error;
        }
      }
    }
  }, 600_000);
});

function withNested(signature: AuthenticodeSignature): AuthenticodeSignature[] {
  return [signature, ...signature.nested.flatMap(withNested)];
}

/** The CMS of each program whose certificate table holds one, with what the entry pads it with. */
function programsIn(corpus: string): [name: string, bytes: Uint8Array][] {
  return ['pe', 'pe-special'].flatMap((part) =>
    readdirSync(path.join(corpus, part)).flatMap((file): [string, Uint8Array][] => {
      const signature = signatureIn(readFileSync(path.join(corpus, part, file)));
      return signature === undefined ? [] : [[`${part}/${file}`, signature]];
    }),
  );
}

/** The first PKCS#7 entry of the certificate table, where there is one. */
function signatureIn(file: Buffer): Uint8Array | undefined {
  if (file.length < 0x100 || file.toString('latin1', 0, 2) !== 'MZ') return undefined;
  const header = file.readUInt32LE(0x3c);
  if (header + 0x100 > file.length || file.toString('latin1', header, header + 4) !== 'PE\0\0') return undefined;
  const directories = header + 24 + (file.readUInt16LE(header + 24) === 0x20b ? 112 : 96);
  const table = file.readUInt32LE(directories + 4 * 8);
  if (table === 0 || table + 8 > file.length || file.readUInt16LE(table + 6) !== 2) return undefined;
  return file.subarray(table + 8, Math.min(table + file.readUInt32LE(table), file.length));
}
