/** Programs, a service of this process that signs with a real key, and a real journal that several runs open: for tests of what runs share. */

import { constants, type KeyObject, privateEncrypt } from 'node:crypto';
import { appendFile, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSigningChain, type SigningChain } from '../../../src/certificates/signing-chain.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { type JournalOptions, openJournal } from '../../../src/journal/open-journal.ts';
import type { ReportStatus, SigningService } from '../../../src/service/signing-service.ts';
import type { SigningJournal } from '../../../src/signing/service/account.ts';
import type { Signing } from '../../../src/signing/signing-run.ts';
import { fixture } from '../../support/programs/cli.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { type FlatSigning, testSigning } from './signing-run.ts';

export interface JournalScene extends AsyncDisposable {
  readonly folder: string;
  readonly service: CountingService;
  /** Of the certificate. */
  readonly key: KeyObject;
  /** As another run of this process. */
  open(more?: Partial<JournalOptions>): Promise<Journal>;
  /** A program with this content. */
  program(name: string, content?: string): Promise<{ readonly path: string; readonly output: string }>;
  /** With a journal that is closed at the end. */
  signing(journal: SigningJournal & Partial<Pick<Journal, 'close'>>, more?: FlatSigning): Signing;
}

export interface CountingService extends SigningService {
  asked: number;
  /** Of the last ones sent, the last. */
  readonly reports: (readonly [string, ReportStatus])[];
  /** Runs while a call is under way. */
  before: () => Promise<void>;
  /** Runs while a report is under way. */
  beforeReport: () => Promise<void>;
}

/** DigestInfo of a SHA-256 digest (RFC 8017, section 9.2, note 1). */
const DIGEST_INFO_SHA256 = Buffer.from('3031300d060960864801650304020105000420', 'hex');

/** As a service does: PKCS#1 v1.5 over a SHA-256 digest. */
export function signDigest(key: KeyObject, digest: Uint8Array): Buffer {
  return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.concat([DIGEST_INFO_SHA256, digest]));
}

export async function makeSigner(): Promise<{ readonly key: KeyObject; readonly chain: SigningChain }> {
  const pki = makePki('Signing');
  const leaf = pki.leaf();
  const files = [leaf, pki.intermediate].map(({ pem }) => ({ name: 'pem', bytes: Buffer.from(pem) }));
  return { key: leaf.privateKey, chain: await readSigningChain(files, { now: new Date(), purposes: [] }) };
}

export async function journalScene(): Promise<JournalScene> {
  const { key, chain } = await makeSigner();
  const folder = await mkdtemp(join(tmpdir(), 'codesign-shared-'));
  const service: CountingService = {
    asked: 0,
    reports: [],
    before: async () => undefined,
    beforeReport: async () => undefined,
    async sign({ digest, beforeSend, beforeWrite }) {
      await beforeSend?.();
      beforeWrite?.();
      const id = `record-${++service.asked}`;
      await service.before();
      return { id, signature: signDigest(key, digest) };
    },
    async report(id, status) {
      await service.beforeReport();
      service.reports.push([id, status]);
    },
    expect: () => undefined,
    close: async () => undefined,
  };
  let ids = 0;
  return {
    folder,
    service,
    key,
    open: (more) =>
      openJournal({
        folder: join(folder, 'state'),
        now: () => new Date(),
        uptime: () => performance.now(),
        randomId: () => `id${String(++ids).padStart(8, '0')}`,
        processes: { self: { host: 'here', boot: 'first', pid: 100, started: '1' }, isRunning: () => true },
        keepDays: 90,
        runningFor: 0,
        patience: 60_000,
        ...more,
      }),
    async program(name, content = name) {
      const path = join(folder, name);
      await copyFile(fixture('pe/hello.exe'), path);
      await appendFile(path, content.padEnd(16));
      return { path, output: path };
    },
    signing: (journal, more = {}) =>
      testSigning({ chain, service, journal, ...(journal.close ? { close: journal.close } : {}), ...more }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
