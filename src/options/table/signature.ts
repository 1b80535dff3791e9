/** Options that say what a signature and its timestamp are made of. */

import { algorithm, type OptionDefinition, objectIdentifier, path, timestampAuthority } from '../option.ts';

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
    help: 'address of an RFC 3161 time stamp authority',
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
    in: { init: { help: 'no time stamp authority in the profile' } },
  },
  force: {
    flag: '--force',
    help: 'replacement of existing timestamps, and timestamps for signatures of expired certificates',
    commands: ['timestamp'],
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
