/** What one run of signing is made of: its options and the parts it works with, put together by app/compose. Types only. */

import type { SigningChain } from '../certificates/signing-chain.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { Format } from '../formats/format.ts';
import type { FormatOptions } from '../formats/format-options.ts';
import type { ExistingSignatures, ReportFailures } from '../options/commands/sign.ts';
import type { SigningService } from '../service/signing-service.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { LockTarget } from './files/target-lock.ts';
import type { SigningEvent } from './outcome.ts';
import type { ClientDescription } from './service/client-info.ts';
import type { Claims } from './service/without-journal.ts';

export interface SigningOptions {
  /** Number of the certificate at the service; undefined only in a dry run. */
  readonly code: string | undefined;
  readonly algorithm: DigestAlgorithm;
  /** Undefined for signatures without a timestamp. */
  readonly timestampAlgorithm?: DigestAlgorithm | undefined;
  readonly formatOptions: FormatOptions;
  /** Undefined for the default mode of each format. */
  readonly existing: ExistingSignatures | undefined;
  /** Files, and so service calls, under way at once. */
  readonly concurrency: number;
  /** Spend no signature when any file is unfit. */
  readonly allOrNothing: boolean;
  /** A run that might ask for more signatures is refused; undefined for no limit. */
  readonly maxSignatures?: number | undefined;
  /** Signatures of this certificate number that may be counted in one month; undefined for no limit. */
  readonly monthlyBudget?: number | undefined;
  readonly report: boolean;
  /** `now`: also of a signature that the journal keeps for another run. */
  readonly reportFailures?: ReportFailures;
  readonly dryRun: boolean;
}

export interface SigningParts {
  readonly formats: readonly Format[];
  readonly chain: SigningChain;
  /** Undefined only in a dry run. */
  readonly service: SigningService | undefined;
  /** Undefined for signatures without a timestamp. */
  readonly authorities: TimestampAuthorities | undefined;
  /** Scheme, host and port of the service; empty in a dry run. */
  readonly origin: string;
  /** The journal, or what takes its place. */
  readonly claims: Claims;
  /** What the calls tell about this client. */
  readonly client: ClientDescription;
  /** Digests of what is in archives. */
  readonly digestEntries: DigestEntries;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
  readonly now: () => Date;
  readonly randomName: () => string;
  /** Removes what a process that was killed has left in a folder. */
  readonly removeLeft?: (folder: string) => Promise<void>;
  /** Keeps other runs from a target. */
  readonly lockTarget?: LockTarget;
  /** Makes what was renamed in a folder durable. */
  readonly flushFolder?: (folder: string) => Promise<void>;
  /** Paths of the temporary files and locks that are there now, for whoever must end at once. */
  readonly temporaryFiles: Set<string>;
  readonly onEvent: (event: SigningEvent) => void;
}

export interface Signing extends SigningOptions, SigningParts {}
