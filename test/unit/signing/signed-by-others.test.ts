/** Which files of a pattern, a folder or a list keep the signature of another publisher. What becomes of them: sessions/recorded/cases/sign.txt. */

import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { FileToSign } from '../../../src/signing/outcome.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { fixture } from '../../support/programs/cli.ts';
import { folderForEach } from '../../support/set-up.ts';
import { type CertificateRequest, makePki } from '../../support/signed-files/pki.ts';
import { chainOf } from '../../support/signed-files/throwaway-signer.ts';
import { makePdf } from '../formats/pdf/make-pdf.ts';
import { countingService } from './journal-scene.ts';
import { type FlatSigning, testSigning } from './signing-run.ts';

const folder = folderForEach();

type Publisher = Pick<CertificateRequest, 'commonName' | 'organization'>;

const OURS = { commonName: 'Release Team', organization: 'Example Ltd' };
const OTHER = { commonName: 'Windows', organization: 'Microsoft Corporation' };

/** Signs as this publisher, and returns the status, or the reason for skipping the file, and the number of requests. */
async function sign(publisher: Publisher, file: Partial<FileToSign> & { path: string }, more: FlatSigning = {}) {
  const pki = makePki();
  const leaf = pki.leaf(publisher);
  const service = countingService(leaf.privateKey);
  const chain = await chainOf(leaf, pki.intermediate);
  const signing = testSigning({ chain, service, ...more });
  const policy = { ...signing.policy, existing: more.existing };
  const { files } = await signFiles([{ output: file.path, ...file }], { ...signing, policy });
  const [outcome] = files;
  return [outcome?.status === 'skipped' ? outcome.reason : outcome?.status, service.asked];
}

async function program(name = 'app.exe'): Promise<string> {
  const path = folder.at(name);
  await copyFile(fixture('pe/hello.exe'), path);
  return path;
}

describe('a file that was found', () => {
  it.each<[string, Publisher, Publisher, string]>([
    ['of the same organization', OURS, { ...OURS, commonName: 'Other Team' }, 'signed'],
    ['of the same organization in another case', OURS, { ...OURS, organization: 'EXAMPLE  LTD ' }, 'signed'],
    ['of another organization with the same common name', OURS, { ...OURS, organization: 'Other' }, 'signed-by-others'],
    ['of the same common name without organizations', { commonName: 'Me' }, { commonName: 'Me' }, 'signed'],
    ['of another common name without organizations', { commonName: 'Me' }, { commonName: 'You' }, 'signed-by-others'],
    ['of an organization without ours', { commonName: 'Me' }, OTHER, 'signed-by-others'],
  ])('and has a signature %s: %4$s', async (_whose, ours, theirs, expected) => {
    const path = await program();
    await sign(theirs, { path });
    expect((await sign(ours, { path, isFound: true }))[0]).toBe(expected);
  });

  it.each([
    [{ existing: 'replace' }, 'signed'],
    [{ existing: 'append' }, 'signed'],
    [{ existing: 'skip' }, 'signed-by-others'],
    [{ existing: 'skip-any' }, 'already-signed'],
  ] as const)('is %j: %s', async (more, expected) => {
    const path = await program();
    await sign(OTHER, { path });
    expect((await sign(OURS, { path, isFound: true }, more))[0]).toBe(expected);
  });

  it('loses a signature of another publisher that is broken', async () => {
    const path = await program();
    await sign(OTHER, { path });
    const bytes = await readFile(path);
    bytes[0x210] = (bytes[0x210] ?? 0) ^ 1;
    await writeFile(path, bytes);
    expect(await sign(OURS, { path, isFound: true })).toEqual(['signed', 1]);
  });

  it('keeps the signatures of both if ours was added to the other one', async () => {
    const path = await program();
    await sign(OTHER, { path });
    await sign(OURS, { path }, { existing: 'append' });
    expect(await sign(OURS, { path, isFound: true })).toEqual(['signed-by-others', 0]);
  });

  it('is kept although the format would reject the options', async () => {
    const path = await program('app.pdf');
    await writeFile(path, makePdf());
    await sign(OTHER, { path });
    const more = { formatOptions: { field: 'No such field' } };
    expect(await sign(OURS, { path, isFound: true }, more)).toEqual(['signed-by-others', 0]);
  });
});
