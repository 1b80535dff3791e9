/** The definition of an option, and the kinds of values. */

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

/** Reads values of one kind, and describes them for settings files and shells. */
export interface ValueKind<Value> {
  /** Throws `invalid-setting`, or what is wrong with an address. */
  read(given: Given): Value;
  /**
   * Form in a settings file. A code is a number that may begin with zeros: text, but a number is accepted too. Members are an
   * object in a file, and typed as `key=value`.
   */
  readonly form: 'text' | 'number' | 'code' | 'switch' | 'members';
  /** JSON schema of one value in a settings file, of members: of all of them. */
  readonly schema: object;
  /** The only values. */
  readonly words?: readonly string[];
  /** Values that a shell offers, among others: those listed, or names of profiles or environments. */
  readonly suggestions?: readonly string[] | 'profiles' | 'environments';
  /** A relative path in a settings file starts from the folder of that file. */
  readonly isPath?: true;
  /** Explains the value in help. */
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

/** `scale`: what the number is multiplied by when it is read. */
export function number(range: NumberRange, scale = 1) {
  const { isWhole, from: minimum, to: maximum } = range;
  return {
    read: (given: Given) => scale * readNumber(given, range),
    form: 'number',
    schema: { type: isWhole ? 'integer' : 'number', minimum, maximum },
  } as const satisfies ValueKind<number>;
}

export interface OptionDefinition {
  /** `--timestamp-url`; `--no-timestamp` for a switch that is on by default. */
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  /** Name of the value in help: `url`. A switch has none. */
  readonly placeholder?: string;
  readonly kind?: ValueKind<unknown>;
  /** Repeatable; a list in a settings file. */
  readonly isList?: true;
  /** The variable contains several values, separated by spaces. */
  readonly isSplit?: true;
  readonly variable?: string;
  /** Variables for help that this table does not look up. */
  readonly otherVariables?: string;
  /** As typed. */
  readonly default?: string;
  /** Describes the default in help if it is not a constant. */
  readonly defaultText?: string;
  /** Settings files that may contain it. A project file contains only what a cloned repository may decide. */
  readonly stored?: 'project' | 'profile' | 'both';
  /** A noun phrase for a value, an imperative for a switch. Values, default and variable are added to it. */
  readonly help: string;
  /** Heading in help, for an option of a format. */
  readonly group?: string;
  /** Keys of the options that it cannot be combined with. */
  readonly conflicts?: readonly string[];
  readonly commands: readonly CommandName[];
  /** Differences in some of the commands. */
  readonly in?: Readonly<Partial<Record<CommandName, Differences>>>;
  /** The library has no such option. */
  readonly isCommandLineOnly?: true;
}

export type OptionTable = Readonly<Record<string, OptionDefinition>>;

interface Differences extends Partial<Pick<OptionDefinition, 'flag' | 'help' | 'default' | 'defaultText'>> {
  /** Neither the variable nor a settings file counts. */
  readonly isTypedOnly?: true;
}
