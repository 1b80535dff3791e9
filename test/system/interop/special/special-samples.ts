/** Makes unusual files, some of which only other programs can judge. Each key is the name of a table. */

import { newStream } from '../../../../src/compound-file/write.ts';
import { appx } from '../../../../src/formats/appx/index.ts';
import { cab } from '../../../../src/formats/cab/index.ts';
import { navx } from '../../../../src/formats/navx/index.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { powershell } from '../../../../src/formats/script/index.ts';
import { SERVER_PUBLISHER } from '../../../support/signed-files/made-inputs.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import * as appxSamples from '../../../unit/formats/appx/samples.ts';
import { GOOD_CABINETS, MALFORMED_CABINETS, makeCabinet } from '../../../unit/formats/cab/samples.ts';
import { GOOD_CATALOGS, MALFORMED_CATALOGS } from '../../../unit/formats/cat/samples.ts';
import { GOOD_INSTALLERS, MALFORMED_INSTALLERS, makeCompoundFile } from '../../../unit/formats/msi/samples.ts';
import { GOOD_EXTENSIONS, MALFORMED_EXTENSIONS, makeExtension } from '../../../unit/formats/navx/samples.ts';
import { GOOD_NUGET, MALFORMED_NUGET, makePackage } from '../../../unit/formats/nuget/samples.ts';
import { GOOD_CONNECTIONS, MALFORMED_CONNECTIONS } from '../../../unit/formats/rdp/samples.ts';
import * as scripts from '../../../unit/formats/script/samples.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';

interface SpecialSample {
  readonly name: string;
  readonly bytes: Buffer;
}

const text = (name: string, content: string): SpecialSample => ({ name, bytes: Buffer.from(content, 'latin1') });

const [publisher = '', organization = ''] = SERVER_PUBLISHER.split(/, O=|^CN=/).slice(1);
/** Its name is that of the server's certificate, which Windows app packages contain. */
const signer = await makeThrowawaySigner({ publisher, organization });

const EXTENSIONS = ['psm1', 'psd1', 'ps1xml', 'psc1', 'cdxml', 'mof', 'jse', 'vbs', 'vbe', 'wsc'];
const script = (await signBytes(powershell, Buffer.from('Get-Date\r\n'), signer)).result;

const STREAMS = [newStream('One', Buffer.alloc(6000, 1)), newStream('Small', Buffer.from('small'))];
const ofKind = (digits: string) =>
  makeCompoundFile({ clsid: `${digits}100c0000000000c000000000000046`, children: STREAMS });

/** `at` is the offset of the larger stream's directory entry. */
function changedInstaller(change: (bytes: Buffer, at: number) => void, version: 3 | 4 = 3): Buffer {
  const bytes = makeCompoundFile({ version, children: STREAMS });
  change(bytes, bytes.indexOf(Buffer.from('One\0', 'utf16le')));
  return bytes;
}

/** The last sector of the stream becomes free, with the content that it had. */
function hole(bytes: Buffer, at: number): void {
  const last = (bytes.readUInt32LE(76) + 1) * 512 + (bytes.readUInt32LE(at + 116) + 11) * 4;
  bytes.writeUInt32LE(5632, at + 120);
  bytes.writeUInt32LE(0xffff_fffe, last - 4);
  bytes.writeUInt32LE(0xffff_ffff, last);
}

const cabinet = (await signBytes(cab, makeCabinet(), signer)).result;
const SET = { previous: 'a', next: 'b', number: 1, header: Buffer.alloc(20), perFolder: 3, perData: 2 };

/** These members are required by the schema of manifests, which Microsoft's SDK checks. */
const MANIFEST = `<?xml version="1.0" encoding="utf-8"?>
<Package xmlns="http://schemas.microsoft.com/appx/manifest/foundation/windows10"><Identity Name="Test.App" Publisher="${SERVER_PUBLISHER}" Version="1.2.3.0"/><Properties><DisplayName>Test</DisplayName><PublisherDisplayName>Test</PublisherDisplayName><Logo>logo.png</Logo></Properties><Dependencies><TargetDeviceFamily Name="Windows.Desktop" MinVersion="10.0.17763.0" MaxVersionTested="10.0.19041.0"/></Dependencies><Resources><Resource Language="en-us"/></Resources></Package>`;
const { contentTypes, MALFORMED_PACKAGES, OVERRIDE, ZIP64 } = appxSamples;
const whole = (shape: appxSamples.PackageShape = {}) => appxSamples.makePackage({ manifest: MANIFEST, ...shape });
const app = whole();
const inner = (await signBytes(appx, app, signer)).result;
const bundle = (more = {}) => appxSamples.makeBundle(inner, { publisher: SERVER_PUBLISHER, ...more });
const CATALOG = { name: 'AppxMetadata/CodeIntegrity.cat', contents: 'a catalog' };
const FOUR_BLOCKS = { name: 'large.bin', contents: Buffer.alloc(200_000, 'a large file. '), isStored: true };

const plain = makeExtension(Buffer.from('PK'));
const extension = (await signBytes(navx, plain, signer)).result;

export const MADE: Readonly<Record<string, readonly SpecialSample[]>> = {
  'script-special': [
    ...[...scripts.GOOD_POWERSHELL, ...scripts.MALFORMED_POWERSHELL, ...scripts.GOOD_WSH, ...scripts.MALFORMED_WSH],
    ...EXTENSIONS.map((each) => text(`kind.${each}`, 'x\r\n')),
    text('ends-at-32.ps1', `${'#'.repeat(30)}\xc3\xbc\r\n`),
    text('three-bytes-end-at-32.ps1', `${'#'.repeat(29)}\xe2\x98\x83\r\n`),
    text('begins-at-32.ps1', `${'#'.repeat(32)}\xc3\xbc\r\n`),
    text('early-and-late.ps1', `# \xc3\xbc\r\n${'#'.repeat(100)}\xe2\x98\x83\r\n`),
    text('early-and-broken.ps1', `# \xc3\xbc\r\n${'#'.repeat(32)}\xff`),
    { name: 'jobs.wsf', bytes: scripts.WSF_WITH_JOBS },
    { name: 'utf16.wsf', bytes: Buffer.from('\ufeff<job>\u2603</job>\r\n', 'utf16le') },
    { name: 'signed-without-last-line-end.ps1', bytes: script.subarray(0, -2) },
  ],
  'msi-special': [
    ...[...GOOD_INSTALLERS, ...MALFORMED_INSTALLERS],
    { name: 'difat.msi', bytes: makeCompoundFile({ children: [newStream('Large', Buffer.alloc(8_000_000, 1))] }) },
    { name: 'hole-with-data.msi', bytes: changedInstaller(hole) },
    {
      name: 'size-with-garbage.msi',
      bytes: changedInstaller((bytes, at) => bytes.writeUInt32LE(0xdead_beef, at + 124)),
    },
    {
      name: 'version-4-without-directory-count.msi',
      bytes: changedInstaller((bytes) => bytes.writeUInt32LE(0, 40), 4),
    },
    { name: 'patch.msp', bytes: ofKind('86') },
    { name: 'transform.mst', bytes: ofKind('82') },
  ],
  'cab-special': [
    ...[...GOOD_CABINETS, ...MALFORMED_CABINETS],
    { name: 'first-of-set.cab', bytes: makeCabinet({ next: 'two.cab' }) },
    { name: 'last-of-set.cab', bytes: makeCabinet({ previous: 'two.cab', number: 2 }) },
    { name: 'set-with-reserve.cab', bytes: makeCabinet(SET) },
    { name: 'signed-with-hidden-bytes.cab', bytes: cabinet.fill(1, 52, 53) },
  ],
  'cat-special': [...GOOD_CATALOGS, ...MALFORMED_CATALOGS],
  'rdp-special': [...GOOD_CONNECTIONS, ...MALFORMED_CONNECTIONS],
  'nuget-special': [
    ...[...GOOD_NUGET, ...MALFORMED_NUGET],
    {
      name: 'signed-and-appended-to.nupkg',
      bytes: Buffer.concat([(await signBytes(nuget, makePackage(), signer)).result, Buffer.from('payload')]),
    },
  ],
  'appx-special': [
    ...MALFORMED_PACKAGES,
    { name: 'plain.msix', bytes: app },
    { name: 'makeappx.appx', bytes: whole({ around: ZIP64 }) },
    { name: 'gap.msix', bytes: whole({ around: { gap: 'gap' } }) },
    { name: 'blocks.msix', bytes: whole({ files: [FOUR_BLOCKS] }) },
    { name: 'sha512.msix', bytes: whole({ method: 'sha512' }) },
    { name: 'prefix.msix', bytes: whole({ contentTypes: `\ufeff${contentTypes('', 'ct:')}` }) },
    { name: 'named-already.msix', bytes: whole({ contentTypes: contentTypes(OVERRIDE) }) },
    { name: 'catalog.msix', bytes: whole({ more: [CATALOG] }) },
    { name: 'flat.msixbundle', bytes: bundle({ offset: undefined }) },
    { name: 'signed-inside.msixbundle', bytes: bundle({ around: ZIP64 }) },
    { name: 'encrypted.emsix', bytes: Buffer.from('EXPH'.padEnd(200)) },
    { name: 'encrypted.emsixbundle', bytes: Buffer.from('EXBH'.padEnd(200)) },
  ],
  'navx-special': [
    ...[...GOOD_EXTENSIONS, ...MALFORMED_EXTENSIONS],
    { name: 'empty.app', bytes: makeExtension(Buffer.alloc(0)) },
    { name: 'twice.app', bytes: Buffer.concat([extension, extension.subarray(plain.length)]) },
  ],
};
