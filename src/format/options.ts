export interface FormatOption {
  /** Name of the option in the library and in settings files, for example `signerName`. */
  readonly key: string;
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  readonly placeholder?: string;
  readonly help: string;
  readonly group: string;
  readonly defaultText?: string;
  /** A noun phrase for the files to which the option applies, or undefined for all files of its formats. */
  readonly appliesTo?: string;
  readonly stored?: 'project' | 'profile' | 'both';
  /** A switch has no value. `expected` describes the accepted values, for example `some text`. */
  readonly value?: { accepts(text: string): boolean; readonly expected: string; readonly schema: object };
  /** Throws before any request if the value cannot be used. */
  check?(text: string): void;
}

export type FormatOptions = Readonly<Record<string, string | true>>;

export function textOf(options: FormatOptions, { key }: FormatOption): string | undefined {
  const value = options[key];
  return value === true ? undefined : value;
}

export function isGiven(options: FormatOptions, { key }: FormatOption): boolean {
  return options[key] === true;
}

export function checkFormatOptions(declared: readonly FormatOption[], options: FormatOptions): void {
  for (const option of declared) {
    const text = textOf(options, option);
    if (text) option.check?.(text);
  }
}

export const SOME_TEXT = {
  accepts: (text: string) => text !== '',
  expected: 'some text',
  schema: { type: 'string', minLength: 1 },
};

/** Signs the unsigned packages in a bundle before the bundle itself. */
export const INNER_PACKAGES = {
  key: 'innerPackages',
  flag: '--inner-packages',
  appliesTo: 'app bundles (.msixbundle, .appxbundle)',
  help: 'also sign the unsigned packages in an app bundle',
  group: 'Windows',
} as const satisfies FormatOption;
