/** The interface that every file format implements. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { Purpose } from '../certificates/purpose.ts';
import { formatErrors } from './errors.ts';
import type { FormatOption } from './options.ts';
import type { ContentReader, SignableFile, SigningMode } from './signable-file.ts';

export interface Format {
  readonly id: string;
  readonly title: string;
  /** Extensions (".exe") select files in folders, but never determine the format of a file. */
  readonly extensions: readonly string[];
  /** Extensions that other types of files use too. `--recursive` ignores files with such an extension. */
  readonly onlyIfNamed?: readonly string[];
  readonly purpose: Purpose;
  readonly recognition: Recognition;
  readonly signing: SigningRules | undefined;
  /** Throws if the file is malformed or has no space for a signature. `name` is the name of the output file. */
  open(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile>;
  seemsSigned(source: ByteSource): Promise<boolean>;
}

export interface SigningRules {
  /** Formats with a common option use the same option object. */
  readonly options: readonly FormatOption[];
  readonly modes: readonly [SigningMode, ...SigningMode[]];
  /** True if signatures contain `SigningContext.time`. A resumed run uses the time of the first run. */
  readonly signsTime?: boolean;
  /**
   * True if the extension determines the form of the signature, so that input and output file need the same extension.
   */
  readonly keepsExtension?: boolean;
}

export type Recognition =
  | {
      readonly by: 'bytes';
      claims(head: Uint8Array, name: string): boolean;
    }
  | {
      readonly by: 'zip';
      /** Folders whose entry names `claims` needs, such as `meta-inf/`, in addition to those in the root folder. */
      readonly folders: readonly string[];
      /** Returns `possibly` if other types of archives can contain these names too. */
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
