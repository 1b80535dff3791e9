import type { FormatOption } from '../formats/format-options.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { type FindWritten, findWrittenWith } from './existing-signatures.ts';
import { type Run, type StartedRun, startRun } from './run.ts';
import { openGate } from './service/gate.ts';
import { type Reports, reportTo } from './service/reports.ts';
import { type Account, requestSignatures, type Signatures } from './service/signatures.ts';
import { requestTimestamps, type Timestamps } from './service/timestamps.ts';
import { earlierTimes, type FindEarlierTimes, type RunContext } from './signing-context.ts';
import type { SigningPolicy } from './signing-policy.ts';

/** What a run of `sign` is given. */
export interface Signing {
  readonly run: Run;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  /** Options of formats that the user typed for this run. */
  readonly typedOptions: readonly FormatOption[];
  /** Undefined in a dry run. */
  readonly account: Account | undefined;
  /** Undefined for signatures without a timestamp. */
  readonly authorities: TimestampAuthorities | undefined;
  /** About certificate, credentials and TLS. */
  readonly warnings: readonly string[];
  /** Lists that grow during the run. */
  readonly laterWarnings: readonly (readonly string[])[];
}

/** What signing one file works with. */
export interface SigningRun extends StartedRun {
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  readonly findEarlierTimes: FindEarlierTimes;
  readonly findWritten: FindWritten;
  readonly signatures: Signatures;
  readonly timestamps: Timestamps;
  readonly reports: Reports;
}

/** Sends nothing yet. When `signal` aborts, nothing new starts and calls under way are waited for. */
export function startSigning(
  { run: given, context, policy, authorities }: Signing,
  account: Account,
  signal: AbortSignal | undefined,
): SigningRun {
  const run = startRun(given, signal);
  const { stop, now, onEvent, concurrency } = run;
  const { service, client } = account;
  const { existing, report } = policy;
  const signingOptions = {
    existing: existing === 'skip-any' ? ('skip' as const) : existing,
    formatOptions: context.formatOptions,
    report,
  };
  const gate = openGate({ most: concurrency, needsTimestamp: authorities !== undefined, stop });
  const timestamps = requestTimestamps(authorities, stop, onEvent);
  return {
    ...run,
    context,
    policy,
    findEarlierTimes: earlierTimes(account),
    findWritten: findWrittenWith(account),
    signatures: requestSignatures({ account, context, signingOptions, gate, timestamps, stop, now, onEvent }),
    timestamps,
    reports: reportTo({ service: report ? service : undefined, concurrency, onEvent, client, signal }),
  };
}
