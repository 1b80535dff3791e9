import type { Contents, SignableFile } from '../format/signable-file.ts';
import type { Detail } from '../format/signature.ts';

export function containerOnly(
  { entries, changing }: Pick<Contents, 'entries'> & Partial<Contents>,
  details: readonly Detail[],
): SignableFile {
  return {
    signatures: async () => [],
    examine: async () => [],
    layout: () => details,
    signing: undefined,
    removing: undefined,
    stamping: undefined,
    attaching: undefined,
    contents: { entries, changing },
    listing: undefined,
    catalog: undefined,
  };
}
