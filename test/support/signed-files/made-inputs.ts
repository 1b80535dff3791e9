/** An unsigned file of each further format, for tests that sign whatever there is. */

import { makePackage } from '../../unit/formats/appx/samples.ts';
import { makeCabinet } from '../../unit/formats/cab/samples.ts';
import { makeCatalog } from '../../unit/formats/cat/samples.ts';
import { makeCompoundFile } from '../../unit/formats/msi/samples.ts';
import { makeExtension } from '../../unit/formats/navx/samples.ts';
import { makePackage as makeNugetPackage } from '../../unit/formats/nuget/samples.ts';
import { makePdf } from '../../unit/formats/pdf/make-pdf.ts';

/** The subject of the first certificate of the test server. */
export const SERVER_PUBLISHER = 'CN=Code Signing, O=codesign-remote server';

/** By the id of the format. `isTimed`: the signature holds a time, so that two runs sign differently. */
export const MADE_INPUTS = {
  navx: { extension: 'app', make: () => makeExtension(Buffer.from('PK\x03\x04 stands for a package')) },
  cat: { extension: 'cat', make: () => makeCatalog({}) },
  rdp: { extension: 'rdp', make: () => Buffer.from('full address:s:server.example.com\r\n') },
  msi: { extension: 'msi', make: () => makeCompoundFile() },
  cab: { extension: 'cab', make: () => makeCabinet() },
  powershell: { extension: 'ps1', make: () => Buffer.from('Get-Date\r\n') },
  appx: { extension: 'msix', make: () => makePackage({ publisher: SERVER_PUBLISHER }) },
  nuget: { extension: 'nupkg', make: () => makeNugetPackage(), isTimed: true },
  pdf: { extension: 'pdf', make: () => makePdf(), isTimed: true },
} as const;
