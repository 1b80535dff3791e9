import { resolve } from 'node:path';
import type { FormatOption } from '../format/options.ts';
import type { SigningContext } from '../format/signable-file.ts';
import type { Journal, RecordedSigningOptions } from '../journal/journal.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { type FindWritten, findWrittenWith } from './existing-signatures.ts';
import { filesToSign } from './files/inner-files.ts';
import type { PlannedFile } from './planned-file.ts';
import { type Run, type StartedRun, startRun } from './run.ts';
import type { Account } from './service/account.ts';
import { withoutJournal } from './service/call.ts';
import { type Gate, openGate } from './service/gate.ts';
import { type KeyMatch, matchKey } from './service/key-match.ts';
import { type Reports, reportTo } from './service/reports.ts';
import { requestTimestamps, type Timestamps } from './service/timestamps.ts';
import type { SigningPolicy } from './signing-policy.ts';

/** Everything that determines a signature, except the content and the signing time. */
export type RunContext = Omit<SigningContext, 'time'>;

export interface Signing {
  readonly run: Run;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  readonly typedOptions: readonly FormatOption[];
  readonly account: Account | undefined;
  readonly authorities: TimestampAuthorities | undefined;
  readonly warnings: readonly string[];
  /** Awaited when the run ends. The callback adds its warnings to `laterWarnings`. */
  readonly close?: () => Promise<void>;
  readonly laterWarnings: readonly (readonly string[])[];
}

export interface SigningRun extends StartedRun {
  readonly account: Account;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  readonly findEarlierTimes: (plan: PlannedFile) => Promise<readonly EarlierTime[]>;
  readonly findWritten: FindWritten;
  /** Options that are the same for all files, and that `resume` needs in order to prepare the same bytes. */
  readonly signingOptions: Omit<RecordedSigningOptions, 'path' | 'output' | 'inner' | 'time' | 'pathInFolder'>;
  readonly key: KeyMatch;
  readonly gate: Gate;
  readonly timestamps: Timestamps;
  readonly reports: Reports;
  /** Aborts timestamp requests and reports, which another run can repeat with the journal. */
  readonly interruption: AbortSignal | undefined;
}

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

/** The signing time that an earlier run chose for a file, and the digest that it sent. */
export interface EarlierTime {
  readonly time: Date;
  readonly digest: string;
}

/** Reads the earlier calls once, and only for formats in which the signature covers the signing time. */
function earlierTimes({ journal, origin, code }: Account): SigningRun['findEarlierTimes'] {
  let reading: ReturnType<Journal['repeatable']> | undefined;
  return async ({ format, path, output, contained }) => {
    const formats = [format, ...filesToSign(contained?.toChange ?? []).map((file) => file.format)];
    if (!formats.some(({ signing }) => signing?.signsTime)) return [];
    reading ??= journal.repeatable();
    const [from, to] = [resolve(path), resolve(output)];
    return (await reading).flatMap(({ work, files }) => {
      if (work.origin !== origin || work.code !== code) return [];
      const options = files.map(({ signingOptions }) => signingOptions);
      const own = options.find((one) => one.path === from && one.output === to);
      return own === undefined ? [] : [{ time: new Date(own.time), digest: work.digest }];
    });
  };
}
