import { DIGEST_ALGORITHMS } from '../crypto/algorithms.ts';
import {
  type Given,
  type NumberRange,
  parseBaseUrl,
  readAlgorithm,
  readNumber,
  readObjectIdentifier,
  readProxy,
  readSigner,
  readSwitch,
  readText,
  readTimestampUrl,
  readWord,
} from './values.ts';

export type CommandName =
  | 'sign'
  | 'catalog'
  | 'verify'
  | 'timestamp'
  | 'remove'
  | 'attach'
  | 'inspect'
  | 'extract'
  | 'resume'
  | 'history'
  | 'init'
  | 'login'
  | 'logout'
  | 'whoami'
  | 'config list'
  | 'config set'
  | 'config profiles'
  | 'config remove-profile'
  | 'explain'
  | 'completion';

export interface ValueKind<Value> {
  read(given: Given): Value;
  /**
   * Form in a settings file. `code` is text for a number that may begin with zeros; a JSON number is accepted too.
   * `members` is an object in a settings file, and typed as `key=value`.
   */
  readonly form: 'text' | 'number' | 'code' | 'switch' | 'members';
  /** JSON schema of one value in a settings file, or of the whole object for `members`. */
  readonly schema: object;
  readonly words?: readonly string[];
  /** Values that the shell offers, although others are accepted. */
  readonly suggestions?: readonly string[] | 'profiles' | 'environments';
  /** A relative path in a settings file is resolved from the folder of that file. */
  readonly isPath?: true;
  readonly note?: string;
}

const TEXT = { form: 'text', schema: { type: 'string', minLength: 1 } } as const;
const WEB_ADDRESS = { form: 'text', schema: { type: 'string', format: 'uri', pattern: '^https?://' } } as const;

export const text: ValueKind<string> = { ...TEXT, read: readText };
export const path: ValueKind<string> = { ...text, isPath: true };
export const certificateFile: ValueKind<string> = { ...path, note: 'PEM, DER, PKCS#7 or PKCS#12' };
export const serviceAddress: ValueKind<URL> = { ...WEB_ADDRESS, read: ({ value, name }) => parseBaseUrl(value, name) };
export const timestampAuthority = { ...WEB_ADDRESS, read: readTimestampUrl } satisfies ValueKind<URL>;
export const signer = { ...TEXT, read: readSigner } satisfies ValueKind<unknown>;
export const proxyAddress = { ...TEXT, read: readProxy } satisfies ValueKind<unknown>;
export const objectIdentifier: ValueKind<string> = { ...TEXT, read: readObjectIdentifier };
export const certificateCode: ValueKind<string> = { ...text, form: 'code', schema: { type: ['string', 'integer'] } };
export const algorithm = {
  read: readAlgorithm,
  form: 'text',
  schema: { enum: DIGEST_ALGORITHMS },
  words: DIGEST_ALGORITHMS,
} satisfies ValueKind<unknown>;

/** A switch that settings files may contain. */
export const switched = {
  read: readSwitch,
  form: 'switch',
  schema: { type: 'boolean' },
} as const satisfies ValueKind<boolean>;

export function oneOf<const Word extends string>(words: readonly Word[]): ValueKind<Word> {
  return { read: (given) => readWord(given, words), form: 'text', schema: { enum: words }, words };
}

/** `scale`: factor by which the typed number is multiplied. */
export function number(range: NumberRange, scale = 1) {
  const { isWhole, from: minimum, to: maximum } = range;
  return {
    read: (given: Given) => scale * readNumber(given, range),
    form: 'number',
    schema: { type: isWhole ? 'integer' : 'number', minimum, maximum },
  } as const satisfies ValueKind<number>;
}

export interface OptionDefinition {
  /** `--timestamp-url`, or `--no-timestamp` for a switch that is on by default. */
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  /** Name of the value in help, such as `url`; undefined for a switch. */
  readonly placeholder?: string;
  readonly kind?: ValueKind<unknown>;
  /** May be repeated, and is a list in a settings file. */
  readonly isList?: true;
  /** The variable contains several values separated by spaces. */
  readonly isSplit?: true;
  readonly variable?: string;
  /** Further variables to mention in help, which this table does not read. */
  readonly otherVariables?: string;
  /** The default as the user would type it. */
  readonly default?: string;
  readonly defaultText?: string;
  /** A project file may contain only what a cloned repository is allowed to decide. */
  readonly stored?: 'project' | 'profile' | 'both';
  /** A noun phrase for a value, and an imperative for a switch. Values, default and variable are appended in help. */
  readonly help: string;
  readonly group?: string;
  /** Keys of options that cannot be combined with this one. */
  readonly conflicts?: readonly string[];
  readonly commands: readonly CommandName[];
  readonly in?: Readonly<Partial<Record<CommandName, Differences>>>;
  readonly isCommandLineOnly?: true;
}

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

interface Differences extends Partial<Pick<OptionDefinition, 'flag' | 'help' | 'default' | 'defaultText'>> {
  /** Neither a variable nor a settings file can set the option. */
  readonly isTypedOnly?: true;
}
