/** Files of each format, for the tests that run for every format. */

import { AUTHENTICODE_PROFILE } from '../../../../src/authenticode/profile.ts';
import { JAR_PROFILE } from '../../../../src/formats/jar/signature/new-signature.ts';
import { NUGET_PROFILE } from '../../../../src/formats/nuget/signed-content.ts';
import { PDF_PROFILE } from '../../../../src/formats/pdf/stored.ts';
import { RDP_PROFILE } from '../../../../src/formats/rdp/open-rdp.ts';
import { flipped } from '../../../support/flipped.ts';
import { changedPackages, GOOD_PACKAGES, MALFORMED_PACKAGES } from '../appx/samples.ts';
import { changedCabinets, GOOD_CABINETS, MALFORMED_CABINETS } from '../cab/samples.ts';
import { changedCatalogs, GOOD_CATALOGS, MALFORMED_CATALOGS } from '../cat/samples.ts';
import type { FormatFixtures } from '../format.contract.ts';
import { changedEntries } from '../jar/simple-zip.ts';
import { changedInstallers, GOOD_INSTALLERS, MALFORMED_INSTALLERS } from '../msi/samples.ts';
import { changedExtensions, GOOD_EXTENSIONS, MALFORMED_EXTENSIONS } from '../navx/samples.ts';
import { changedNuget, GOOD_NUGET, MALFORMED_NUGET } from '../nuget/samples.ts';
import { changedDocuments, GOOD_DOCUMENTS, MALFORMED_DOCUMENTS } from '../pdf/samples.ts';
import { headerOffsets } from '../pe/slow-pe.ts';
import { changedConnections, GOOD_CONNECTIONS, MALFORMED_CONNECTIONS } from '../rdp/samples.ts';
import { changedScripts, GOOD_POWERSHELL, GOOD_WSH, MALFORMED_POWERSHELL, MALFORMED_WSH } from '../script/samples.ts';
import { fixturesIn } from './fixtures.ts';

const AUTHENTICODE = { profile: AUTHENTICODE_PROFILE, remarks: { SHA1: 'digest-algorithm-aging' } } as const;
const NESTED = { algorithms: ['SHA1', 'SHA384', 'SHA512'], sameSignerAgain: 'is added' } as const;
const NEXT_TO_EACH_OTHER = { algorithms: ['SHA256', 'SHA384', 'SHA512'], sameSignerAgain: 'takes its place' } as const;

async function changedPrograms(result: Buffer): Promise<readonly Buffer[]> {
  const { checksum, entry } = headerOffsets(result);
  const covered = [2, checksum - 1, checksum + 4, entry - 1, entry + 8, result.readUInt32LE(entry) - 1];
  return covered.map((offset) => flipped(result, offset));
}

const FIXTURES: Readonly<Record<string, FormatFixtures>> = {
  pe: {
    ...AUTHENTICODE,
    good: fixturesIn('pe'),
    representative: ['pe/stale-entry.exe', 'pe/size-mod-8-is-7.exe'],
    malformed: fixturesIn('pe-malformed'),
    changedContents: changedPrograms,
    appended: NESTED,
  },
  jar: {
    profile: JAR_PROFILE,
    good: fixturesIn('jar'),
    representative: ['jar/manifest-sections.jar', 'jar/descriptors-64.jar'],
    malformed: fixturesIn('jar-malformed'),
    rejected: { SHA1: 'jar-unsigned-result' },
    changedContents: changedEntries,
    appended: NEXT_TO_EACH_OTHER,
  },
  cab: {
    ...AUTHENTICODE,
    good: GOOD_CABINETS,
    representative: ['small.cab', 'set.cab'],
    malformed: MALFORMED_CABINETS,
    changedContents: changedCabinets,
    appended: NESTED,
  },
  msi: {
    ...AUTHENTICODE,
    good: GOOD_INSTALLERS,
    representative: ['three.msi', 'four.msi'],
    malformed: MALFORMED_INSTALLERS,
    changedContents: changedInstallers,
    appended: NESTED,
  },
  cat: {
    ...AUTHENTICODE,
    good: GOOD_CATALOGS,
    representative: ['two.cat'],
    malformed: MALFORMED_CATALOGS,
    changedContents: changedCatalogs,
  },
  powershell: {
    ...AUTHENTICODE,
    good: GOOD_POWERSHELL,
    representative: ['lf.ps1', 'utf16.ps1'],
    malformed: MALFORMED_POWERSHELL,
    changedContents: changedScripts,
  },
  wsh: {
    ...AUTHENTICODE,
    good: GOOD_WSH,
    representative: ['ascii.js', 'le.js'],
    malformed: MALFORMED_WSH,
    changedContents: changedScripts,
  },
  navx: {
    ...AUTHENTICODE,
    good: GOOD_EXTENSIONS,
    malformed: MALFORMED_EXTENSIONS,
    changedContents: changedExtensions,
  },
  rdp: {
    ...AUTHENTICODE,
    profile: RDP_PROFILE,
    good: GOOD_CONNECTIONS,
    representative: ['utf16.rdp', 'ascii.rdp'],
    malformed: MALFORMED_CONNECTIONS,
    changedContents: changedConnections,
  },
  appx: {
    profile: AUTHENTICODE_PROFILE,
    good: GOOD_PACKAGES,
    representative: ['plain.msix', 'app.msixbundle'],
    malformed: MALFORMED_PACKAGES,
    changedContents: changedPackages,
  },
  nuget: {
    profile: NUGET_PROFILE,
    good: GOOD_NUGET.map((fixture) => ({ ...fixture, appendCode: 'cannot-append' })),
    representative: ['plain.nupkg', 'upper.nupkg'],
    malformed: MALFORMED_NUGET,
    rejected: { SHA1: 'nuget-algorithm' },
    changedContents: changedNuget,
  },
  pdf: {
    ...AUTHENTICODE,
    profile: PDF_PROFILE,
    good: GOOD_DOCUMENTS,
    representative: ['updated.pdf', 'compressed.pdf'],
    malformed: MALFORMED_DOCUMENTS,
    changedContents: changedDocuments,
    appended: { ...NEXT_TO_EACH_OTHER, sameSignerAgain: 'is added' },
    stampedAs: 'a whole file',
  },
};

export function fixturesOf({ id }: { readonly id: string }): FormatFixtures {
  const fixtures = FIXTURES[id];
  if (fixtures === undefined) throw new Error(`the format ${id} has no fixtures for the contract`);
  return fixtures;
}
