/** THE SEAM: the interface that every file format implements. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { formatErrors } from './errors.ts';
import type { FormatOption } from './options.ts';
import type { ContentReader, SignableFile, SigningMode } from './signable-file.ts';

export interface Format {
  readonly id: string;
  readonly title: string;
  /**
   * Extensions in lower case, including the dot. Extensions select files in folders, but never determine the format of
   * a file.
   */
  readonly extensions: readonly string[];
  /**
   * Extensions that other types of files also use. When a folder is searched, files with such an extension are ignored.
   */
  readonly onlyIfNamed: readonly string[];
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  /** undefined if files of this format can only be read. */
  readonly signing: SigningRules | undefined;
  /**
   * Reads the layout. Throws before any request is sent if the file is malformed or has no space for a signature.
   * `name` is the name by which the user specified the file. If a new file is written, `name` is the name of the new
   * file.
   */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  seemsSigned(source: ByteSource): Promise<boolean>;
}

export interface SigningRules {
  /** Options of this format. Formats that have an option in common refer to the same object. */
  readonly options: readonly FormatOption[];
  /** Modes for existing signatures that the format supports. The first mode is the default. */
  readonly modes: readonly [SigningMode, ...SigningMode[]];
  /** True if signatures contain `SigningContext.time`. If a run is resumed, it then uses the time of the first run. */
  readonly signsTime: boolean;
  /**
   * True if the result must have the same extension as the input, because the extension determines the form of the
   * signature.
   */
  readonly keepsExtension: boolean;
}

export type Recognition =
  | {
      readonly by: 'bytes';
      /** `head` contains the first 4096 bytes of the file, or the whole file if it is shorter. */
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /**
       * Folders in the archive, in lower case and with `/` at the end. The names of entries in these folders are read.
       * The names of entries in the root folder are always read.
       */
      readonly folders: readonly string[];
      /**
       * `surely`: no other type of archive contains entries with these names. `possibly`: other types of archives can
       * contain them too.
       */
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
