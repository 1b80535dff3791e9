/** Peculiar files of the further formats that are made here, each with one peculiarity; `formats/…/samples.ts` has more. */

import { newStream } from '../../../../src/compound-file/write.ts';
import type { Format } from '../../../../src/format/format.ts';
import { cab } from '../../../../src/formats/cab/index.ts';
import { cat } from '../../../../src/formats/cat/index.ts';
import { msi } from '../../../../src/formats/msi/index.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { rdp } from '../../../../src/formats/rdp/index.ts';
import { powershell } from '../../../../src/formats/script/index.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { GOOD_CABINETS, MALFORMED_CABINETS, makeCabinet } from '../../../unit/formats/cab/samples.ts';
import { GOOD_CATALOGS, MALFORMED_CATALOGS, makeCatalog } from '../../../unit/formats/cat/samples.ts';
import { GOOD_INSTALLERS, MALFORMED_INSTALLERS, makeCompoundFile } from '../../../unit/formats/msi/samples.ts';
import { GOOD_NUGET, MALFORMED_NUGET, makePackage } from '../../../unit/formats/nuget/samples.ts';
import { GOOD_CONNECTIONS, MALFORMED_CONNECTIONS } from '../../../unit/formats/rdp/samples.ts';
import {
  GOOD_POWERSHELL,
  GOOD_WSH,
  MALFORMED_POWERSHELL,
  MALFORMED_WSH,
  WSF_WITH_JOBS,
  WSF_WITHOUT_JOB,
} from '../../../unit/formats/script/samples.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';

export interface SpecialSample {
  readonly name: string;
  readonly bytes: Buffer;
}

const text = (name: string, content: string): SpecialSample => ({ name, bytes: Buffer.from(content) });
const utf16 = (content: string) => Buffer.from(`\ufeff${content}`, 'utf16le');

/** The same file, signed by someone else. */
async function signed(format: Format, bytes: Buffer): Promise<Buffer> {
  return (await signBytes(format, bytes, await makeThrowawaySigner({ publisher: 'Another Publisher' }))).result;
}

export async function scriptSamples(): Promise<readonly SpecialSample[]> {
  const ours = await signed(powershell, Buffer.from('Get-Date\r\n'));
  const extensions = ['psm1', 'psd1', 'ps1xml', 'psc1', 'cdxml', 'mof', 'jse', 'vbs', 'vbe', 'wsc'];
  return [
    ...[...GOOD_POWERSHELL, ...MALFORMED_POWERSHELL, ...GOOD_WSH, ...MALFORMED_WSH],
    ...extensions.map((extension) => text(`kind.${extension}`, 'x\r\n')),
    text('UPPER.PS1', 'x\r\n'),
    text('ends-at-32.ps1', `${'#'.repeat(30)}\u00fc\r\n`),
    text('three-bytes-end-at-32.ps1', `${'#'.repeat(29)}\u2603\r\n`),
    text('begins-at-32.ps1', `${'#'.repeat(32)}\u00fc\r\n`),
    text('early-and-late.ps1', `# \u00fc\r\n${'#'.repeat(100)}\u2603\r\n`),
    {
      name: 'early-and-broken.ps1',
      bytes: Buffer.concat([Buffer.from(`# \u00fc\r\n${'#'.repeat(32)}`), Buffer.of(0xff)]),
    },
    { name: 'jobs.wsf', bytes: WSF_WITH_JOBS },
    { name: 'no-job.wsf', bytes: WSF_WITHOUT_JOB },
    { name: 'utf16.wsf', bytes: utf16('<job>\u2603</job>\r\n') },
    { name: 'odd.vbs', bytes: Buffer.concat([utf16('x\r\n'), Buffer.of(0x78)]) },
    { name: 'signed.ps1', bytes: ours },
    { name: 'signed-without-last-line-end.ps1', bytes: ours.subarray(0, -2) },
    { name: 'signed-and-line-end.ps1', bytes: Buffer.concat([ours, Buffer.from('\r\n')]) },
    { name: 'signed-and-lf.ps1', bytes: Buffer.from(ours.toString().replaceAll('\r\n', '\n')) },
    { name: 'signed-and-code.ps1', bytes: Buffer.concat([ours, Buffer.from('exit\r\n')]) },
  ];
}

const STREAMS = [
  newStream('One', Buffer.alloc(6000, 1)),
  newStream('Two', Buffer.alloc(6000, 2)),
  newStream('Small', Buffer.from('small')),
];

function changedInstaller(
  change: (bytes: Buffer, entryOf: (name: string) => number, fatOf: (sector: number) => number) => void,
): Buffer {
  const bytes = makeCompoundFile({ children: STREAMS });
  const offsetOf = (sector: number) => (sector + 1) * 512;
  const directory = offsetOf(bytes.readUInt32LE(48));
  change(
    bytes,
    (name) => bytes.indexOf(Buffer.from(`${name}\0`, 'utf16le'), directory),
    (sector) => offsetOf(bytes.readUInt32LE(76)) + sector * 4,
  );
  return bytes;
}

/** The last sector of a stream becomes free, with the content that it had. */
function withHole(content?: number): Buffer {
  return changedInstaller((bytes, entryOf, fatOf) => {
    const start = bytes.readUInt32LE(entryOf('One') + 116);
    bytes.writeUInt32LE(5632, entryOf('One') + 120);
    bytes.writeUInt32LE(0xffff_fffe, fatOf(start + 10));
    bytes.writeUInt32LE(0xffff_ffff, fatOf(start + 11));
    if (content !== undefined) bytes.fill(content, (start + 12) * 512, (start + 13) * 512);
  });
}

export async function installerSamples(): Promise<readonly SpecialSample[]> {
  const plain = makeCompoundFile({ children: STREAMS });
  const clsid = (kind: string) =>
    makeCompoundFile({ clsid: `${kind}100c0000000000c000000000000046`, children: STREAMS });
  const version4 = makeCompoundFile({ version: 4, children: STREAMS });
  const withoutCount = Buffer.from(version4);
  withoutCount.writeUInt32LE(0, 40);
  return [
    ...[...GOOD_INSTALLERS, ...MALFORMED_INSTALLERS],
    { name: 'difat.msi', bytes: makeCompoundFile({ children: [newStream('Large', Buffer.alloc(8_000_000, 1))] }) },
    { name: 'hole-of-zeros.msi', bytes: withHole(0) },
    { name: 'hole-with-data.msi', bytes: withHole() },
    {
      name: 'size-with-garbage.msi',
      bytes: changedInstaller((bytes, entryOf) => bytes.writeUInt32LE(0xdead_beef, entryOf('One') + 124)),
    },
    { name: 'version-4-without-directory-count.msi', bytes: withoutCount },
    { name: 'version-4-zeros-behind.msi', bytes: Buffer.concat([version4, Buffer.alloc(4096)]) },
    { name: 'patch.msp', bytes: clsid('86') },
    { name: 'transform.mst', bytes: clsid('82') },
    { name: 'named.exe', bytes: plain },
    { name: 'signed.msi', bytes: await signed(msi, plain) },
    { name: 'signed-and-cut.msi', bytes: (await signed(msi, plain)).subarray(0, -100) },
    { name: 'signed-and-appended-to.msi', bytes: Buffer.concat([await signed(msi, version4), Buffer.from('payload')]) },
  ];
}

export async function cabinetSamples(): Promise<readonly SpecialSample[]> {
  const ours = await signed(cab, makeCabinet());
  const hidden = Buffer.from(ours);
  hidden[52] = 1;
  return [
    ...[...GOOD_CABINETS, ...MALFORMED_CABINETS],
    { name: 'first-of-set.cab', bytes: makeCabinet({ next: 'two.cab' }) },
    { name: 'last-of-set.cab', bytes: makeCabinet({ previous: 'two.cab', number: 2 }) },
    {
      name: 'set-with-reserve.cab',
      bytes: makeCabinet({ previous: 'a', next: 'b', number: 1, header: Buffer.alloc(20), perFolder: 3, perData: 2 }),
    },
    { name: 'named.txt', bytes: makeCabinet() },
    { name: 'signed.cab', bytes: ours },
    { name: 'signed-and-cut.cab', bytes: ours.subarray(0, -8) },
    { name: 'signed-and-appended-to.cab', bytes: Buffer.concat([ours, Buffer.from('payload')]) },
    { name: 'signed-with-hidden-bytes.cab', bytes: hidden },
  ];
}

export async function catalogSamples(): Promise<readonly SpecialSample[]> {
  const plain = makeCatalog({ members: [] });
  const ours = await signed(cat, plain);
  return [
    ...[...GOOD_CATALOGS, ...MALFORMED_CATALOGS],
    { name: 'named.bin', bytes: plain },
    { name: 'signed.cat', bytes: ours },
    { name: 'signed-and-cut.cat', bytes: ours.subarray(0, -8) },
    { name: 'signed-and-appended-to.cat', bytes: Buffer.concat([ours, Buffer.from('payload')]) },
  ];
}

export async function connectionSamples(): Promise<readonly SpecialSample[]> {
  const plain = Buffer.from('full address:s:server.example.com\r\n');
  const ours = await signed(rdp, plain);
  return [
    ...[...GOOD_CONNECTIONS, ...MALFORMED_CONNECTIONS],
    { name: 'without-address.rdp', bytes: Buffer.from('server port:i:3389\r\n') },
    { name: 'signed.rdp', bytes: ours },
    { name: 'signed-and-cut.rdp', bytes: ours.subarray(0, -80) },
    { name: 'signed-and-appended-to.rdp', bytes: Buffer.concat([ours, Buffer.from('username:s:someone\r\n')]) },
  ];
}

export async function nugetSamples(): Promise<readonly SpecialSample[]> {
  const plain = makePackage();
  const ours = await signed(nuget, plain);
  return [
    ...[...GOOD_NUGET, ...MALFORMED_NUGET],
    { name: 'symbols.snupkg', bytes: plain },
    { name: 'named.zip', bytes: plain },
    { name: 'signed.nupkg', bytes: ours },
    { name: 'signed-and-cut.nupkg', bytes: ours.subarray(0, -8) },
    { name: 'signed-and-appended-to.nupkg', bytes: Buffer.concat([ours, Buffer.from('payload')]) },
  ];
}
