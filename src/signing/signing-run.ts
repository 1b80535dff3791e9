import type { FormatOption } from '../format/options.ts';
import type { RecordedSigningOptions } from '../journal/journal.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { type FindWritten, findWrittenWith } from './existing-signatures.ts';
import { type Run, type StartedRun, startRun } from './run.ts';
import type { Account } from './service/account.ts';
import { withoutJournal } from './service/call.ts';
import { type Gate, openGate } from './service/gate.ts';
import { type KeyMatch, matchKey } from './service/key-match.ts';
import { type Reports, reportTo } from './service/reports.ts';
import { requestTimestamps, type Timestamps } from './service/timestamps.ts';
import { earlierTimes, type FindEarlierTimes, type RunContext } from './signing-context.ts';
import type { SigningPolicy } from './signing-policy.ts';

export interface Signing {
  readonly run: Run;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  readonly typedOptions: readonly FormatOption[];
  readonly account: Account | undefined;
  readonly authorities: TimestampAuthorities | undefined;
  readonly warnings: readonly string[];
  /** The run awaits this callback when it ends. Problems that are found during closing are added to `laterWarnings`. */
  readonly close?: () => Promise<void>;
  readonly laterWarnings: readonly (readonly string[])[];
}

export interface SigningRun extends StartedRun {
  readonly account: Account;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  readonly findEarlierTimes: FindEarlierTimes;
  readonly findWritten: FindWritten;
  /** Options that `resume` needs in order to prepare the same bytes. The options are the same for all files. */
  readonly signingOptions: Omit<RecordedSigningOptions, 'path' | 'output' | 'inner' | 'time' | 'pathInFolder'>;
  readonly key: KeyMatch;
  readonly gate: Gate;
  readonly timestamps: Timestamps;
  readonly reports: Reports;
  /**
   * Aborts the timestamp requests and reports, which the journal keeps for another run; undefined if there is no
   * journal.
   */
  readonly interruption: AbortSignal | undefined;
}

/** After `signal` is aborted, no further work starts, and the run waits for the requests that were sent. */
export function startSigning(
  { run: given, context, policy, authorities }: Signing,
  account: Account,
  signal: AbortSignal | undefined,
): SigningRun {
  const run = startRun(given, signal);
  const { stop, onEvent, concurrency } = run;
  const { service, client } = account;
  const { existing, report } = policy;
  const interruption = account.journal === withoutJournal ? undefined : signal;
  return {
    ...run,
    context,
    policy,
    findEarlierTimes: earlierTimes(account),
    findWritten: findWrittenWith(account),
    account,
    signingOptions: {
      existing: existing === 'skip-any' ? 'skip' : existing,
      formatOptions: context.formatOptions,
      report,
      ...(policy.inside && { inside: policy.inside.recorded }),
    },
    key: matchKey(context.chain, account.code),
    gate: openGate({ most: concurrency, needsTimestamp: authorities !== undefined, stop }),
    timestamps: requestTimestamps(authorities, stop, onEvent),
    reports: reportTo({ service: report ? service : undefined, concurrency, onEvent, client, signal: interruption }),
    interruption,
  };
}
