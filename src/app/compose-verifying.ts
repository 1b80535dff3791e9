import type { Http } from '../http/http.ts';
import { settingsErrors } from '../options/errors.ts';
import type { Resolved } from '../options/resolve.ts';
import type { Environment } from '../options/table.ts';
import { listed } from '../options/variables.ts';
import { createRevocation } from '../verifying/revocation.ts';
import { loadCrlFiles, loadTrustRoots } from '../verifying/roots.ts';
import { type ExamineTrust, trustExaminer } from '../verifying/trust.ts';
import type { VerifiedFile } from '../verifying/verdict.ts';
import { type Verifying, verifyFile } from '../verifying/verify-file.ts';
import { verifyByCatalog } from '../verifying/verify-listed.ts';
import { composeHttp } from './compose-connection.ts';
import { composeReading } from './compose-local.ts';

/** Adds the default roots. A file named `system` must be given as `./system`. */
const SYSTEM_ROOTS = 'system';

type VerifySettings = Resolved<'verify'>;

/** These options have no effect unless revocation is checked. */
const REQUEST_OPTIONS = ['caFile', 'proxy', 'timeout'] as const;

export async function composeVerifying(settings: VerifySettings, env: Environment, onRead?: Verifying['onRead']) {
  refuseUselessOptions(settings);
  const now = new Date();
  const http = settings.checkRevocation ? await composeHttp(settings, env) : undefined;
  const trust = settings.integrityOnly ? undefined : await composeTrust(settings, env, now, http);
  const { requireTimestamp = false, signer, algorithmAtLeast: leastAlgorithm } = settings;
  const verifying: Verifying = {
    ...composeReading(),
    onRead,
    examineTrust: trust?.examineTrust,
    now,
    policy: { requireTimestamp, signer, leastAlgorithm },
  };
  const verify = settings.catalog === undefined ? verifyFile : await verifyByCatalog(settings.catalog, verifying);
  return {
    verifying,
    rootsFrom: trust?.rootsFrom,
    /** Never throws: the result contains the verdict or the error. */
    verifyFile: (path: string): Promise<VerifiedFile> => verify(path, verifying),
    async [Symbol.asyncDispose](): Promise<void> {
      await http?.close();
    },
  };
}

function refuseUselessOptions({ look, checkRevocation, integrityOnly, signer }: VerifySettings): void {
  const unused = checkRevocation ? [] : REQUEST_OPTIONS.flatMap((key) => look.one(key)?.name ?? []);
  if (unused.length > 0) throw settingsErrors('revocation-not-checked', { options: listed(unused) });
  // Anyone can create a certificate with any name.
  if (integrityOnly && signer !== undefined && 'commonName' in signer) {
    throw settingsErrors('settings-conflict', { options: '--integrity-only and --signer with a name' });
  }
}

async function composeTrust(
  settings: VerifySettings,
  env: Environment,
  now: Date,
  http: Http | undefined,
): Promise<{ readonly examineTrust: ExamineTrust; readonly rootsFrom: string }> {
  const files = settings.roots.filter((root) => root !== SYSTEM_ROOTS);
  const withSystem = files.length === 0 || files.length < settings.roots.length;
  const roots = await loadTrustRoots({ files, withSystem, environment: env });
  const crls = await loadCrlFiles(settings.crlFile);
  const isAsked = http !== undefined || crls.length > 0;
  const deadlineMilliseconds = settings.timeout;
  const revocation = isAsked ? createRevocation({ crls, http, now, deadlineMilliseconds }) : undefined;
  return { examineTrust: trustExaminer({ roots, now, revocation }), rootsFrom: roots.source };
}
