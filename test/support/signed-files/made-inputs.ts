/** An unsigned file of each further format, for tests that sign whatever there is. */

import { makeCabinet } from '../../unit/formats/cab/samples.ts';
import { makeCatalog } from '../../unit/formats/cat/samples.ts';
import { makeCompoundFile } from '../../unit/formats/msi/samples.ts';
import { makeExtension } from '../../unit/formats/navx/samples.ts';

/** By the id of the format. Those whose signatures hold a time are left out: two runs sign them differently. */
export const MADE_INPUTS = {
  navx: { extension: 'app', make: () => makeExtension(Buffer.from('PK\x03\x04 stands for a package')) },
  cat: { extension: 'cat', make: () => makeCatalog({}) },
  rdp: { extension: 'rdp', make: () => Buffer.from('full address:s:server.example.com\r\n') },
  msi: { extension: 'msi', make: () => makeCompoundFile() },
  cab: { extension: 'cab', make: () => makeCabinet() },
  powershell: { extension: 'ps1', make: () => Buffer.from('Get-Date\r\n') },
} as const;
