/** A throw-away certificate authority for TLS servers in tests. */

import { generateKeyPairSync } from 'node:crypto';
import { type CertificateRequest, issue, SERVER_AUTH } from '../signed-files/pki.ts';

export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
}

interface IssueOptions extends Partial<Pick<CertificateRequest, 'commonName' | 'notBefore' | 'notAfter'>> {
  /** DNS names and IP addresses. The first one is the common name, unless there is another. */
  readonly names: readonly string[];
}

export type TlsAuthority = ReturnType<typeof createTlsAuthority>;

export function createTlsAuthority(commonName = 'Test TLS Root') {
  const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const authority = issue({ commonName, key: newKey(), ca: true });
  return {
    root: authority.pem,
    issue({ names, commonName = names[0] ?? 'nameless', ...validity }: IssueOptions): ServerIdentity {
      const server = { commonName, altNames: names, purposes: [SERVER_AUTH], ...validity };
      const { pem, privateKey } = issue({ ...server, issuer: authority, key: newKey() });
      return { cert: pem, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}
