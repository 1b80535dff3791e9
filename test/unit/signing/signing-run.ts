import type { SigningChain } from '../../../src/certificates/signing-chain.ts';
import type { SigningContext } from '../../../src/format/signable-file.ts';
import { formats } from '../../../src/formats/registry.ts';
import { listenWith, type Run } from '../../../src/signing/run.ts';
import type { Account } from '../../../src/signing/service/account.ts';
import { withoutJournal } from '../../../src/signing/service/call.ts';
import type { SigningPolicy } from '../../../src/signing/signing-policy.ts';
import type { Signing } from '../../../src/signing/signing-run.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';

export interface FlatSigning
  extends Partial<SigningContext>,
    Partial<SigningPolicy>,
    Partial<Account>,
    Partial<Omit<Signing, 'run' | 'context' | 'policy' | 'account'>>,
    Partial<Pick<Run, 'formats' | 'concurrency' | 'now' | 'onEvent'>> {
  readonly dryRun?: boolean;
}

export const testClient: Account['client'] = {
  id: '',
  platform: '',
  version: '',
  revision: '',
  hostname: '',
  replaced: { signing_filename: '' },
};

export function testRun(): Run {
  return {
    formats,
    digestEntries,
    disk: { randomName: () => Math.random().toString(16).slice(2), temporaryFiles: new Set() },
    concurrency: 4,
    fileDigests: true,
    clock: () => performance.now(),
    now: () => new Date(),
    ...listenWith(() => undefined),
  };
}

export function testSigning(
  given: FlatSigning & { readonly chain: SigningChain; readonly service: Account['service'] },
): Signing {
  const run = testRun();
  const { formats: known = run.formats, concurrency = run.concurrency, now = run.now } = given;
  const { onEvent = () => undefined } = given;
  const { existing = 'replace', allOrNothing = false, report = true } = given;
  const { algorithm = 'SHA256', formatOptions = {} } = given;
  const { service, origin = 'https://service.example.com', code = '1', journal = withoutJournal } = given;
  const { client = testClient } = given;
  return {
    run: { ...run, formats: known, concurrency, now, ...listenWith(onEvent) },
    context: { chain: given.chain, timestampAlgorithm: given.timestampAlgorithm, algorithm, formatOptions },
    policy: { ...given, existing, allOrNothing, report, isAlgorithmGiven: given.algorithm !== undefined },
    typedOptions: [],
    account: given.dryRun ? undefined : { service, origin, code, journal, client },
    authorities: given.authorities,
    ...(given.close ? { close: given.close } : {}),
    warnings: [],
    laterWarnings: [],
  };
}
