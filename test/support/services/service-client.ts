/** The real client of the signing service, with waits that are recorded instead of slept. */

import { createHttp } from '../../../src/http/http.ts';
import type { Proxies } from '../../../src/http/proxy.ts';
import { loadRoots } from '../../../src/http/roots.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { ServiceClock } from '../../../src/service/call.ts';
import type { CallRecord } from '../../../src/service/call-record.ts';
import { createSigningService } from '../../../src/service/client.ts';
import type { SignRequest } from '../../../src/service/signing-service.ts';

export const ACCESS_KEY = 'key-of-a-test';
export const ACCESS_SECRET = 'Sup3r:s3cret-of-a-test';

export const SIGN_REQUEST: SignRequest = { code: '1001', algorithm: 'SHA256', digest: new Uint8Array(32).fill(7) };

export interface ServiceClientOptions {
  readonly baseUrl: string;
  readonly caFile?: string | undefined;
  readonly timeoutMilliseconds?: number | undefined;
  readonly connectMilliseconds?: number | undefined;
  readonly now?: number | undefined;
  readonly proxies?: Proxies | undefined;
  readonly realClock?: boolean | undefined;
}

/** `waits`: milliseconds of each wait between attempts. */
export async function openServiceClient(options: ServiceClientOptions) {
  const { baseUrl, caFile, timeoutMilliseconds = 10_000, connectMilliseconds, now, realClock, proxies } = options;
  const waits: number[] = [];
  const calls: CallRecord[] = [];
  const clock: ServiceClock = {
    now: () => now ?? Date.now(),
    random: () => 0,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
    },
  };
  const http = createHttp({
    roots: await loadRoots(caFile, process.env),
    userAgent: 'codesign-remote/test',
    connectMilliseconds,
    proxies,
  });
  const service = createSigningService({
    baseUrl: new URL(baseUrl),
    credentials: { accessKey: ACCESS_KEY, accessSecret: new Secret(ACCESS_SECRET) },
    http,
    timeoutMilliseconds,
    onCall: (record) => calls.push(record),
    ...(realClock ? {} : { clock }),
  });
  return { service, waits, calls };
}

/** What a run of the program needs to sign with such a service. @param certificate path of the PEM chain */
export function environmentOf(service: { readonly baseUrl: string; readonly caFile: string }, certificate: string) {
  return {
    CODESIGN_BASE_URL: service.baseUrl,
    CODESIGN_CA_FILE: service.caFile,
    CODESIGN_CODE: '1001',
    CODESIGN_CERTIFICATE: certificate,
    CODESIGN_ACCESS_KEY: ACCESS_KEY,
    CODESIGN_ACCESS_SECRET: ACCESS_SECRET,
  };
}
