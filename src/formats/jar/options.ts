import { type FormatOption, SOME_TEXT } from '../../format/options.ts';

/** A ZIP archive with such an extension is a JAR even without a manifest. */
export const JAR_EXTENSIONS = ['.jar', '.war', '.ear', '.rar', '.aar', '.aab'] as const;

export function isNamedAsJar(name: string): boolean {
  const lower = name.toLowerCase();
  return JAR_EXTENSIONS.some((extension) => lower.endsWith(extension));
}

export const SIGNER_NAME = {
  key: 'signerName',
  flag: '--signer-name',
  placeholder: 'name',
  help: 'base name of the signature files in META-INF',
  group: 'JAR',
  defaultText: 'from the certificate',
  stored: 'both',
  value: SOME_TEXT,
} as const satisfies FormatOption;
