/** What the command line or a library caller may say, before it has been judged: text as typed. */

export interface ProfileOptions {
  /** The name of a stored profile. */
  readonly profile?: string | undefined;
  /** The name of one of the profile's service addresses. */
  readonly environment?: string | undefined;
}

export interface TimestampOptions {
  readonly timestampUrl?: readonly string[] | undefined;
  readonly timestampAlgorithm?: string | undefined;
  readonly timestampPolicy?: string | undefined;
  /** Path of a PEM file: the chain of every timestamp must end at one of its certificates. */
  readonly timestampRoots?: string | undefined;
  /** False: none, whatever the environment says. */
  readonly timestamp?: boolean | undefined;
}

export interface SettingsOptions extends TimestampOptions, ProfileOptions {
  readonly baseUrl?: string | undefined;
  readonly code?: string | undefined;
  readonly certificate?: readonly string[] | undefined;
  readonly algorithm?: string | undefined;
  readonly description?: string | undefined;
  readonly url?: string | undefined;
  readonly signerName?: string | undefined;
  readonly allowUnsignedResult?: boolean | undefined;
  readonly output?: string | undefined;
  readonly replace?: boolean | undefined;
  readonly append?: boolean | undefined;
  readonly skipSigned?: boolean | undefined;
  readonly concurrency?: string | number | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly allOrNothing?: boolean | undefined;
  readonly maxSignatures?: string | number | undefined;
  readonly monthlyBudget?: string | number | undefined;
  readonly maskFilename?: string | undefined;
  readonly extra?: string | undefined;
  readonly report?: boolean | undefined;
  readonly reportFailures?: string | undefined;
  /** False: none is kept. */
  readonly journal?: boolean | undefined;
  /** Path of a file to which a record of each call is added. */
  readonly auditLog?: string | undefined;
  readonly caFile?: string | undefined;
  readonly proxy?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Environment variables by name; an empty value counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>;
