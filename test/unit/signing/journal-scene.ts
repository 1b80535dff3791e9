/** Programs, a service in this process that signs with a real key, and a real journal that several runs open. */

import { type KeyObject, privateEncrypt } from 'node:crypto';
import { appendFile, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestInfo } from '../../../src/cms/build-signed-data.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../../src/journal/open-journal.ts';
import type { ReportStatus, SignatureRecord, SignRequest } from '../../../src/service/signing-service.ts';
import type { SigningJournal } from '../../../src/signing/service/account.ts';
import type { Signing } from '../../../src/signing/signing-run.ts';
import { fixture } from '../../support/programs/cli.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { chainOf } from '../../support/signed-files/throwaway-signer.ts';
import { optionsHere } from '../journal/support/works.ts';
import { type FlatSigning, testSigning } from './signing-run.ts';

/** Signs with the key. `before` is called during each signature request. */
export function countingService(key: KeyObject, before: (call: number) => Promise<unknown> = async () => undefined) {
  const service = {
    asked: 0,
    reports: [] as (readonly [string, ReportStatus])[],
    before,
    async sign({ digest, beforeSend, beforeWrite }: SignRequest): Promise<SignatureRecord> {
      await beforeSend?.();
      beforeWrite?.();
      const call = ++service.asked;
      await service.before(call);
      return { id: `record-${call}`, signature: privateEncrypt(key, digestInfo('SHA256', digest)) };
    },
    report: async (id: string, status: ReportStatus) => void service.reports.push([id, status]),
    expect: () => undefined,
    close: async () => undefined,
  };
  return service;
}

export async function makeSigner() {
  const pki = makePki('Signing');
  const leaf = pki.leaf();
  return { key: leaf.privateKey, chain: await chainOf(leaf, pki.intermediate) };
}

export async function journalScene() {
  const { key, chain } = await makeSigner();
  const folder = await mkdtemp(join(tmpdir(), 'codesign-shared-'));
  const service = countingService(key);
  return {
    folder,
    service,
    key,
    /** Opens the journal as another run of this process. */
    open: (more?: Partial<JournalOptions>): Promise<Journal> =>
      openJournal({
        ...optionsHere(join(folder, 'state')),
        processes: { self: { host: 'here', boot: 'first', pid: 100, started: '1' }, isRunning: () => true },
        ...more,
      }),
    async program(name: string, content = name) {
      const path = join(folder, name);
      await copyFile(fixture('pe/hello.exe'), path);
      await appendFile(path, content.padEnd(16));
      return { path, output: path };
    },
    signing: (journal: SigningJournal & Partial<Pick<Journal, 'close'>>, more: FlatSigning = {}): Signing =>
      testSigning({ chain, service, journal, ...(journal.close ? { close: journal.close } : {}), ...more }),
    [Symbol.asyncDispose]: (): Promise<void> => rm(folder, { recursive: true, force: true }),
  };
}
