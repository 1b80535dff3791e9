/** Options for the content of a signature and its timestamp, and for what `verify` requires of them. */

import {
  algorithm,
  type OptionTable,
  objectIdentifier,
  path,
  signer,
  switched,
  timestampAuthority,
} from '../option.ts';

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
  replace: {
    flag: '--replace',
    defaultText: 'for named files',
    help: 'replace existing signatures',
    conflicts: ['append', 'skipSigned', 'skipAnySigned'],
    commands: ['sign', 'catalog'],
    in: {
      catalog: { help: 'replace an existing file', defaultText: '' },
    },
  },
  append: {
    flag: '--append',
    help: 'add a signature to the existing ones',
    conflicts: ['skipSigned', 'skipAnySigned'],
    commands: ['sign'],
  },
  skipSigned: {
    flag: '--skip-signed',
    help: 'skip files that already have an intact signature by this certificate',
    commands: ['sign'],
  },
  skipAnySigned: {
    flag: '--skip-any-signed',
    help: 'skip files that already have an intact signature by any signer',
    commands: ['sign'],
  },
} as const satisfies OptionTable;

export const TIMESTAMP_OPTIONS = {
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
    conflicts: ['timestamp'],
    commands: ['sign', 'timestamp', 'resume'],
    in: { timestamp: { default: 'SHA256' } },
  },
  timestampPolicy: {
    flag: '--timestamp-policy',
    placeholder: 'oid',
    kind: objectIdentifier,
    stored: 'profile',
    help: 'object identifier of the policy to request from the authority',
    conflicts: ['timestamp'],
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
    help: 'root certificates to trust for timestamps',
    conflicts: ['timestamp'],
    commands: ['sign', 'timestamp', 'resume'],
  },
  /** If false, signatures get no timestamp, whatever the environment says. */
  timestamp: {
    flag: '--no-timestamp',
    help: 'add no timestamp: the signature is valid only as long as the certificate',
    commands: ['sign', 'resume', 'init'],
    in: { init: { help: 'do not store a timestamp authority' } },
  },
  requireTimestamp: {
    flag: '--require-timestamp',
    kind: switched,
    variable: 'CODESIGN_REQUIRE_TIMESTAMP',
    stored: 'both',
    help: 'fail unless a timestamp authority is configured',
    conflicts: ['timestamp'],
    commands: ['sign', 'verify'],
    in: { verify: { help: 'require a valid timestamp for each signature', isTypedOnly: true } },
  },
  force: {
    flag: '--force',
    help: 'replace existing timestamps, and add timestamps to signatures of expired certificates',
    commands: ['timestamp'],
  },
} as const satisfies OptionTable;

export const TRUST_OPTIONS = {
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
    help: 'check integrity only, not whether the signer is trusted',
    commands: ['verify'],
  },
  signer: {
    flag: '--signer',
    placeholder: 'name or SHA-256',
    kind: signer,
    help: 'required signer: common name, or SHA-256 of the certificate',
    commands: ['verify'],
  },
  algorithmAtLeast: {
    flag: '--algorithm-at-least',
    placeholder: 'name',
    kind: algorithm,
    help: 'weakest accepted digest algorithm',
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
  catalog: {
    flag: '--catalog',
    placeholder: 'file',
    kind: path,
    help: 'security catalog (.cat) that lists the files; its signature counts, not theirs',
    commands: ['verify'],
  },
  checkRevocation: {
    flag: '--check-revocation',
    help: 'check revocation at the addresses in the certificates (OCSP, CRL)',
    conflicts: ['integrityOnly'],
    commands: ['verify'],
  },
} as const satisfies OptionTable;
