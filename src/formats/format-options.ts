export interface FormatOption {
  /** Name of the value in `FormatOptions`, in the library's options and in files of settings: `signerName`. */
  readonly key: string;
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  /** Name of the value in help: `text`. Undefined for a switch, whose value is `true`. */
  readonly placeholder?: string;
  /** A noun phrase. */
  readonly help: string;
  /** For help, where the default is not a constant. */
  readonly defaultText?: string;
  /** The files that it affects, as a noun phrase; undefined if it affects every file of the formats that declare it. */
  readonly appliesTo?: string;
  /** Settings files that may hold it. */
  readonly stored?: 'project' | 'profile' | 'both';
  /** Which texts are values, the same in words (`some text`) and as a JSON schema. Undefined for a switch. */
  readonly value?: { accepts(text: string): boolean; readonly expected: string; readonly schema: object };
  /** Throws what makes a value of this kind unusable: asked before any request. */
  check?(text: string): void;
}

/** The values of the options that were given, by their keys. */
export type FormatOptions = Readonly<Record<string, string | true>>;

/** The value of an option with a text; undefined if it was not given. */
export function textOf(options: FormatOptions, { key }: FormatOption): string | undefined {
  const value = options[key];
  return value === true ? undefined : value;
}

/** Whether a switch was given. */
export function isGiven(options: FormatOptions, { key }: FormatOption): boolean {
  return options[key] === true;
}

/** Throws what the options say of their values. */
export function checkFormatOptions(declared: readonly FormatOption[], options: FormatOptions): void {
  for (const option of declared) {
    const text = textOf(options, option);
    if (text) option.check?.(text);
  }
}

/** For declarations: every text but the empty one. */
export const SOME_TEXT = {
  accepts: (text: string) => text !== '',
  expected: 'some text',
  schema: { type: 'string', minLength: 1 },
};
