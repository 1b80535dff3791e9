/** Options that say what a signature and its timestamp are made of, and what verify requires of them. */

import { algorithm, type OptionDefinition, objectIdentifier, path, text, timestampAuthority } from '../option.ts';

export const SIGNATURE_OPTIONS = {
  algorithm: {
    flag: '--algorithm',
    short: '-a',
    placeholder: 'name',
    kind: algorithm,
    variable: 'CODESIGN_ALGORITHM',
    default: 'SHA256',
    stored: 'both',
    help: 'digest algorithm of the signature',
    commands: ['sign'],
  },
  timestampUrl: {
    flag: '--timestamp-url',
    short: '-t',
    placeholder: 'url',
    kind: timestampAuthority,
    isList: true,
    isSplit: true,
    variable: 'CODESIGN_TIMESTAMP_URL',
    stored: 'both',
    help: 'address of an RFC 3161 timestamp authority',
    conflicts: ['timestamp'],
    commands: ['sign', 'timestamp', 'resume', 'init'],
  },
  timestampAlgorithm: {
    flag: '--timestamp-algorithm',
    placeholder: 'name',
    kind: algorithm,
    defaultText: "the signature's",
    stored: 'profile',
    help: 'digest algorithm of the timestamp',
    commands: ['sign', 'timestamp', 'resume'],
    in: { timestamp: { default: 'SHA256' } },
  },
  timestampPolicy: {
    flag: '--timestamp-policy',
    placeholder: 'oid',
    kind: objectIdentifier,
    stored: 'profile',
    help: 'policy to request from the authority',
    commands: ['sign', 'timestamp', 'resume'],
  },
  /** Path of a PEM file: the chain of every timestamp must end at one of its certificates. */
  timestampRoots: {
    flag: '--timestamp-roots',
    placeholder: 'pem',
    kind: path,
    variable: 'CODESIGN_TIMESTAMP_ROOTS',
    defaultText: 'not checked',
    stored: 'profile',
    help: "roots at which the timestamp's chain must end",
    commands: ['sign', 'timestamp', 'resume'],
  },
  /** False: no timestamp, whatever the environment says. */
  timestamp: {
    flag: '--no-timestamp',
    help: 'no timestamp: the signature is valid only as long as the certificate',
    commands: ['sign', 'resume', 'init'],
    in: { init: { help: 'no timestamp authority in the profile' } },
  },
  force: {
    flag: '--force',
    help: 'replacement of existing timestamps, and timestamps for signatures of expired certificates',
    commands: ['timestamp'],
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;

export const VERIFY_OPTIONS = {
  roots: {
    flag: '--roots',
    placeholder: 'pem',
    kind: path,
    isList: true,
    defaultText: "the system's",
    help: "root certificates to trust, for signers and timestamps; `system` adds the system's",
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
    in: { sign: { help: 'requirement that a timestamp authority is configured' } },
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
