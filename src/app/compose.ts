/** The one place where all is wired: Settings in, a Signing that works out. */

import { randomBytes } from 'node:crypto';
import { arch, hostname, platform } from 'node:os';
import { performance } from 'node:perf_hooks';
import { readSigningChain } from '../certificates/read-signing-chain.ts';
import { describeBytes } from '../formats/recognise.ts';
import { formats } from '../formats/registry.ts';
import { createHttp } from '../http/http.ts';
import { loadRoots } from '../http/roots.ts';
import { tlsChecksDisabled } from '../http/tls-checks.ts';
import { createSigningService } from '../service/client.ts';
import type { SigningService } from '../service/signing-service.ts';
import { readCertificateFiles } from '../settings/certificate-files.ts';
import { type Credentials, readCredentials } from '../settings/credentials.ts';
import type { Environment } from '../settings/options.ts';
import type { Settings } from '../settings/settings.ts';
import type { FileToSign, SignFilesResult, SigningEvent } from '../signing/outcome.ts';
import { signFiles } from '../signing/sign-files.ts';
import type { Signing } from '../signing/signing.ts';
import { REVISION, VERSION } from './version.ts';

export interface SigningComposition extends AsyncDisposable {
  /** Whole sentences on certificate, credentials and TLS. */
  readonly warnings: readonly string[];
  signFiles(files: readonly FileToSign[], signal?: AbortSignal): Promise<SignFilesResult>;
}

/** Reads the certificate and the credentials; throws what makes every file of a run impossible to sign. */
export async function composeSigning(
  settings: Settings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<SigningComposition> {
  const now = (): Date => new Date();
  const certificate = await readCertificateFiles(settings.certificates, env);
  const chain = await readSigningChain(certificate.files, { now: now(), password: certificate.password });
  const connection = settings.dryRun ? undefined : await connect(settings, env);
  const signing: Signing = {
    ...settings,
    formats,
    chain,
    service: connection?.service,
    client: {
      policy: settings.extra,
      mask: settings.maskFilename,
      platform: `${platform()} ${arch()}`,
      version: VERSION,
      revision: REVISION,
      hostname: hostname(),
    },
    describeBytes,
    clock: () => performance.now(),
    now,
    randomName: () => randomBytes(8).toString('hex'),
    onEvent,
  };
  return {
    warnings: [...certificate.warnings, ...chain.warnings, ...(connection?.warnings ?? [])],
    signFiles: (files, signal) => signFiles(files, signing, signal),
    async [Symbol.asyncDispose]() {
      await connection?.service.close();
    },
  };
}

interface Connection {
  readonly service: SigningService;
  readonly warnings: readonly string[];
}

/** No request yet: only what must be right before one. */
async function connect(settings: Settings, env: Environment): Promise<Connection> {
  const { baseUrl, caFile, concurrency, timeoutMilliseconds } = settings;
  if (baseUrl === undefined) throw new Error('settings for a run that calls the service have its address');
  const checksDisabled = tlsChecksDisabled(env);
  if (checksDisabled) throw checksDisabled;
  const credentials: Credentials = await readCredentials(env);
  const roots = await loadRoots({ caFile, environment: env });
  // A report runs beside the signatures and must not wait for one of their connections.
  const http = createHttp({ roots, userAgent: `codesign-remote/${VERSION}`, connections: concurrency * 2 });
  http.warmUp();
  const service = createSigningService({ baseUrl, credentials, http, timeoutMilliseconds });
  return { service, warnings: credentials.warnings };
}
