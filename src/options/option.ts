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
  | 'doctor'
  | 'login'
  | 'logout'
  | 'whoami'
  | 'config list'
  | 'config set'
  | 'config profiles'
  | 'config remove-profile'
  | 'explain'
  | 'completion'
  | 'man';

export interface ValueKind<Value> {
  read(given: Given): Value;
  /**
   * Form of the value in a settings file. `code` is text, because the number may begin with zeros, but a JSON number is
   * accepted too. `members` is an object in a settings file, and `key=value` on the command line.
   */
  readonly form: 'text' | 'number' | 'code' | 'switch' | 'members';
  /** The schema of one value, or of the whole object for `members`. */
  readonly schema: object;
  readonly words?: readonly string[];
  /** The shell suggests these words, but other values are accepted too. */
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

export const switched = {
  read: readSwitch,
  form: 'switch',
  schema: { type: 'boolean' },
} as const satisfies ValueKind<boolean>;

export function oneOf<const Word extends string>(words: readonly Word[]): ValueKind<Word> {
  return { read: (given) => readWord(given, words), form: 'text', schema: { enum: words }, words };
}

/** The number on the command line is multiplied by `scale`. */
export function number(range: NumberRange, scale = 1) {
  const { isWhole, from: minimum, to: maximum } = range;
  return {
    read: (given: Given) => scale * readNumber(given, range),
    form: 'number',
    schema: { type: isWhole ? 'integer' : 'number', minimum, maximum },
  } as const satisfies ValueKind<number>;
}

export interface OptionDefinition {
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  readonly placeholder?: string;
  readonly kind?: ValueKind<unknown>;
  readonly isList?: true;
  readonly isSplit?: true;
  readonly variable?: string;
  /** Help mentions these variables, although this table does not read them. */
  readonly otherVariables?: string;
  /** The default value, as a user would type it. */
  readonly default?: string;
  readonly defaultText?: string;
  /** A project file may contain only what a cloned repository is allowed to control. */
  readonly stored?: 'project' | 'profile' | 'both';
  /**
   * A noun phrase for an option with a value, or an imperative for a switch. Help appends the accepted values, the
   * default and the variable.
   */
  readonly help: string;
  readonly group?: string;
  readonly conflicts?: readonly string[];
  readonly commands: readonly CommandName[];
  readonly in?: Readonly<Partial<Record<CommandName, Differences>>>;
  readonly isCommandLineOnly?: true;
}

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

interface Differences
  extends Partial<Pick<OptionDefinition, 'flag' | 'help' | 'default' | 'defaultText' | 'conflicts'>> {
  /** Neither an environment variable nor a settings file can set the option. */
  readonly isTypedOnly?: true;
}
