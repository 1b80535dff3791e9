/** The connection to the signing service: with which credentials, and who hears of its calls. */

import { createHash } from 'node:crypto';
import type { Http } from '../http/http.ts';
import type { Environment } from '../options/options.ts';
import { createSigningService } from '../service/client.ts';
import type { SigningService } from '../service/signing-service.ts';
import type { SigningEvent } from '../signing/outcome.ts';
import { composeCallRecords } from './compose-call-records.ts';
import { composeCredentials } from './compose-credentials.ts';
import { checkWays, composeHttp, type HttpSettings } from './compose-http.ts';

export interface ServiceSettings extends HttpSettings {
  readonly profile: string;
  readonly concurrency: number;
  readonly timeoutMilliseconds: number;
  readonly auditLog: string | undefined;
}

export interface ServiceComposition {
  readonly service: SigningService;
  /** For time stamp authorities, too. */
  readonly http: Http;
  /** How the journal knows whose calls they are, without the access key. */
  readonly client: string;
  /** Whole sentences on the credentials. */
  readonly warnings: readonly string[];
  /** Whole sentences; grows as things are found. */
  readonly later: readonly string[];
}

/** No request yet: only what must be right before one. Throws what makes every request impossible. */
export async function composeService(
  baseUrl: URL,
  settings: ServiceSettings,
  env: Environment,
  onEvent: (event: SigningEvent) => void,
): Promise<ServiceComposition> {
  const { concurrency, profile, timeoutMilliseconds, auditLog } = settings;
  const credentials = await composeCredentials(env, profile, baseUrl.origin);
  checkWays(settings, [baseUrl]);
  // A report runs beside the signatures and must not wait for one of their connections.
  const http = await composeHttp(settings, env, concurrency * 2);
  const { onCall, warnings: later } = composeCallRecords(auditLog, onEvent);
  const service = createSigningService({ baseUrl, credentials, http, timeoutMilliseconds, concurrency, onCall });
  return { service, http, client: clientIdOf(credentials.accessKey), warnings: credentials.warnings, later };
}

function clientIdOf(accessKey: string): string {
  return createHash('sha256').update(accessKey).digest('hex');
}
