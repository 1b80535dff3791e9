/** THE SEAM: what is known of a format without a file. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { formatErrors } from './errors.ts';
import type { FormatOption } from './options.ts';
import type { ContentReader, SignableFile, SigningMode } from './signable-file.ts';

export interface Format {
  /** Short id for JSON and messages: `pe`, `jar`. */
  readonly id: string;
  readonly title: string;
  /** In lower case, with the dot. For documentation and folders; never decides the format of a file. */
  readonly extensions: readonly string[];
  /** Extensions that are often used for other purposes. In folders such files are ignored. */
  readonly onlyIfNamed: readonly string[];
  /** Purpose that signing and `verify` require of the signer's certificate. */
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  /** undefined if files of the format are only read. */
  readonly signing: SigningRules | undefined;
  /**
   * Reads the layout. Fails before any request if the file is malformed or has no space for a signature. `name` is the
   * user's name for the file; for a file to be written, the name of the result.
   */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  /** Searches a file that `open` rejects for traces of a signature. */
  seemsSigned(source: ByteSource): Promise<boolean>;
}

export interface SigningRules {
  /** Options of this format. Formats that share an option declare the same object. */
  readonly options: readonly FormatOption[];
  /** Supported treatment of existing signatures; the first is the default. Others are rejected before any request. */
  readonly modes: readonly [SigningMode, ...SigningMode[]];
  /** True if signatures contain `SigningContext.time`. A resumed run then uses the time of the first one. */
  readonly signsTime: boolean;
  /** True if the result must have the same extension, because it decides how the signature is written. */
  readonly keepsExtension: boolean;
}

export type Recognition =
  | {
      readonly by: 'bytes';
      /** `head` is the first 4096 bytes, or fewer if the file is shorter. */
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /** Folders whose entry names are read, in lower case and with a final `/`. Names in the root are always read. */
      readonly folders: readonly string[];
      /** `surely`: no other kind of archive has these names. `possibly`: no other known kind must match. */
      claims(names: ReadonlySet<string>, name: string): 'surely' | 'possibly' | undefined;
    };

/** Throws `operation-unsupported` if files of the format do not have the capability. `done` is a participle. */
export function requireCapability<Capability>(
  capability: Capability | undefined,
  done: string,
  { title }: Pick<Format, 'title'>,
): Capability {
  if (capability === undefined) throw formatErrors('operation-unsupported', { done, format: title });
  return capability;
}

/** Throws `operation-unsupported`. */
export function signingOf({ signing }: Pick<SignableFile, 'signing'>, format: Pick<Format, 'title'>) {
  return requireCapability(signing, 'signed', format);
}
