/** THE SEAM: the interface that each file format implements. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { formatErrors } from './errors.ts';
import type { FormatOption } from './options.ts';
import type { ContentReader, SignableFile, SigningMode } from './signable-file.ts';

export interface Format {
  readonly id: string;
  readonly title: string;
  /** Extensions in lower case, with the dot. Extensions select files in folders, but never decide the format. */
  readonly extensions: readonly string[];
  /** Extensions that also have other common uses. Files with such an extension in a folder are ignored. */
  readonly onlyIfNamed: readonly string[];
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  /** undefined if files of the format can only be read. */
  readonly signing: SigningRules | undefined;
  /**
   * Reads the layout. Throws before any request if the file is malformed or has no space for a signature. `name` is the
   * user's name for the file. When a new file is written, `name` is the new file's name.
   */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  seemsSigned(source: ByteSource): Promise<boolean>;
}

export interface SigningRules {
  /** Options of this format. Formats that share an option refer to the same object. */
  readonly options: readonly FormatOption[];
  /** Supported treatments of existing signatures; the first is the default. */
  readonly modes: readonly [SigningMode, ...SigningMode[]];
  /** True if signatures contain `SigningContext.time`. A resumed run then uses the time of the first run. */
  readonly signsTime: boolean;
  /** True if the result must have the same extension, because the extension determines the form of the signature. */
  readonly keepsExtension: boolean;
}

export type Recognition =
  | {
      readonly by: 'bytes';
      /** `head` contains the first 4096 bytes, or the whole file if it is shorter. */
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /** Lower-case folders with a trailing `/` whose entry names are read. Names in the root are always read. */
      readonly folders: readonly string[];
      /** `surely`: no other type of archive has these names. `possibly`: other types can have the same names. */
      claims(names: ReadonlySet<string>, name: string): 'surely' | 'possibly' | undefined;
    };

export function requireCapability<Capability>(
  capability: Capability | undefined,
  done: string,
  { title }: Pick<Format, 'title'>,
): Capability {
  if (capability === undefined) throw formatErrors('operation-unsupported', { done, format: title });
  return capability;
}

export function signingOf({ signing }: Pick<SignableFile, 'signing'>, format: Pick<Format, 'title'>) {
  return requireCapability(signing, 'signed', format);
}
