import type { FastifyBaseLogger } from 'fastify';
import { whyRejected } from './http/auth.ts';
import { isDisabled, quotasOf } from './records/rows.ts';
import type { Store } from './records/store.ts';
import { endOfValidity } from './setup/tls.ts';

export const DAY = 24 * 60 * 60 * 1000;
const WARN_BEFORE = 30 * DAY;
const TLS = { name: 'the TLS certificate', todo: 'install a new certificate, then send SIGHUP' };
const CODE_SIGNING = {
  name: 'a code-signing certificate',
  todo: 'run `codesign-admin certificate request`, then `import`',
};

export async function lookAhead(
  log: FastifyBaseLogger,
  certificate: string,
  { certificates, clients }: Pick<Store, 'certificates' | 'clients'>,
  now: Date,
): Promise<void> {
  logValidity(log, TLS, { outcome: 'tls-validity', ...endOfValidity(certificate) }, now);
  try {
    for (const each of await certificates.list()) {
      const { number, notBefore, notAfter } = each;
      const line = { outcome: 'certificate-validity', certificate: number, notBefore, notAfter };
      if (!isDisabled(each, now)) logValidity(log, CODE_SIGNING, line, now);
    }
    for (const client of await clients.list()) {
      const { accessKey, name = accessKey } = client;
      for (const { quota, left, ...rest } of whyRejected(client, now) ? [] : quotasOf(client)) {
        if (quota === undefined || left === undefined) continue;
        const line = { outcome: 'quota', accessKey, client: name, ...rest, quota, left };
        if (left < quota / 10) log.warn(line, 'less than a tenth of the quota is left');
        else log.info(line);
      }
    }
  } catch (error) {
    log.error({ outcome: 'look-ahead-failed', err: error });
  }
}

function logValidity(
  log: FastifyBaseLogger,
  { name, todo }: typeof TLS,
  line: { readonly outcome: string; readonly notBefore: Date; readonly notAfter: Date },
  now: Date,
): void {
  const { notBefore, notAfter } = line;
  if (now > notAfter) log.error(line, `${name} has expired: ${todo}`);
  else if (now < notBefore) log.error(line, `${name} is not valid yet`);
  else if (notAfter.getTime() - now.getTime() < WARN_BEFORE) log.warn(line, `${name} expires soon: ${todo}`);
}
