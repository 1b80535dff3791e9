/** Options that say which signers verify trusts, and what it requires of a signature. */

import { algorithm, type OptionDefinition, path, text } from '../option.ts';

export const VERIFY_OPTIONS = {
  roots: {
    flag: '--roots',
    placeholder: 'pem',
    kind: path,
    defaultText: "the system's",
    help: 'root certificates to trust, for signers and timestamps',
    conflicts: ['integrityOnly'],
    commands: ['verify'],
  },
  integrityOnly: {
    flag: '--integrity-only',
    help: 'no check whether the signer is trusted',
    commands: ['verify'],
  },
  signer: {
    flag: '--signer',
    placeholder: 'name or SHA-256',
    kind: text,
    help: 'required signer: common name, or SHA-256 of the certificate',
    commands: ['verify'],
  },
  requireTimestamp: {
    flag: '--require-timestamp',
    help: 'requirement that a signature has a valid timestamp',
    conflicts: ['timestamp'],
    commands: ['sign', 'verify'],
    in: { sign: { help: 'requirement that a time stamp authority is configured' } },
  },
  algorithmAtLeast: {
    flag: '--algorithm-at-least',
    placeholder: 'name',
    kind: algorithm,
    help: 'weakest digest algorithm to accept',
    commands: ['verify'],
  },
  crlFile: {
    flag: '--crl-file',
    placeholder: 'file',
    kind: path,
    isList: true,
    help: 'revocation list, PEM or DER',
    conflicts: ['integrityOnly'],
    commands: ['verify'],
  },
  checkRevocation: {
    flag: '--check-revocation',
    help: 'revocation check at the addresses in the certificates (OCSP, CRL)',
    conflicts: ['integrityOnly'],
    commands: ['verify'],
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
