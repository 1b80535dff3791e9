/** Peculiar packages of Windows apps and extensions of Business Central that are made here, each with one peculiarity. */

import { appx } from '../../../../src/formats/appx/index.ts';
import { navx } from '../../../../src/formats/navx/index.ts';
import { SERVER_PUBLISHER } from '../../../support/signed-files/made-inputs.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import {
  contentTypes,
  MALFORMED_PACKAGES,
  makeBundle,
  makePackage,
  OVERRIDE,
  type PackageShape,
  withZip64,
} from '../../../unit/formats/appx/samples.ts';
import { withBytesAt } from '../../../unit/formats/jar/simple-zip.ts';
import { GOOD_EXTENSIONS, MALFORMED_EXTENSIONS, makeExtension } from '../../../unit/formats/navx/samples.ts';
import { signBytes } from '../../../unit/formats/support/sign-bytes.ts';
import type { SpecialSample } from './special-samples.ts';

/** What the schema of manifests requires, which Microsoft's SDK compares. */
const MANIFEST = `<?xml version="1.0" encoding="utf-8"?>
<Package xmlns="http://schemas.microsoft.com/appx/manifest/foundation/windows10"><Identity Name="Test.App" Publisher="PUBLISHER" Version="1.2.3.0"/><Properties><DisplayName>Test</DisplayName><PublisherDisplayName>Test</PublisherDisplayName><Logo>logo.png</Logo></Properties><Dependencies><TargetDeviceFamily Name="Windows.Desktop" MinVersion="10.0.17763.0" MaxVersionTested="10.0.19041.0"/></Dependencies><Resources><Resource Language="en-us"/></Resources></Package>`;

function whole({ publisher = SERVER_PUBLISHER, ...more }: PackageShape = {}): Buffer {
  return makePackage({ manifest: MANIFEST.replace('PUBLISHER', publisher), ...more });
}

const P7X = { name: 'AppxSignature.p7x', contents: 'PKCX' };
const CATALOG = { name: 'AppxMetadata/CodeIntegrity.cat', contents: 'a catalog' };
const LATE = { name: 'late.txt', contents: 'late' };

export async function appxSamples(): Promise<readonly SpecialSample[]> {
  const plain = whole();
  const signer = await makeThrowawaySigner({ publisher: 'Another Publisher' });
  const { result: signed } = await signBytes(appx, plain, signer, { unchecked: true });
  const [publisher = '', organization = ''] = SERVER_PUBLISHER.split(/, O=|^CN=/).slice(1);
  const { result: inner } = await signBytes(appx, plain, await makeThrowawaySigner({ publisher, organization }));
  const bundle = (inner: Buffer, more = {}) => makeBundle(inner, { publisher: SERVER_PUBLISHER, ...more });
  const large = Buffer.alloc(200_000, 'a large file. ');
  return [
    ...MALFORMED_PACKAGES,
    { name: 'plain.msix', bytes: plain },
    { name: 'named.zip', bytes: plain },
    { name: 'makeappx.appx', bytes: withZip64(plain) },
    { name: 'gap.msix', bytes: withBytesAt(plain, plain.readUInt32LE(plain.length - 6), Buffer.from('gap')) },
    { name: 'blocks.msix', bytes: whole({ files: [{ name: 'large.bin', contents: large, isStored: true }] }) },
    { name: 'sha384.msix', bytes: whole({ method: 'sha384' }) },
    { name: 'sha512.msix', bytes: whole({ method: 'sha512' }) },
    { name: 'mark.msix', bytes: whole({ contentTypes: `\ufeff${contentTypes()}` }) },
    { name: 'prefix.msix', bytes: whole({ contentTypes: contentTypes('', 'ct:') }) },
    { name: 'named-already.msix', bytes: whole({ contentTypes: contentTypes(OVERRIDE) }) },
    { name: 'catalog.msix', bytes: whole({ more: [CATALOG] }) },
    { name: 'publisher.msix', bytes: whole({ publisher: 'CN=Another' }) },
    { name: 'spelling.msix', bytes: whole({ publisher: SERVER_PUBLISHER.toLowerCase() }) },
    { name: 'signed.msix', bytes: signed },
    { name: 'signed-and-cut.msix', bytes: signed.subarray(0, -8) },
    { name: 'signed-and-appended-to.msix', bytes: Buffer.concat([signed, Buffer.from('payload')]) },
    { name: 'signed-and-added-to.msix', bytes: whole({ contentTypes: contentTypes(OVERRIDE), more: [P7X, LATE] }) },
    { name: 'two-names.msix', bytes: whole({ more: [LATE, { ...LATE, name: 'late.txt' }] }) },
    { name: 'flat.msixbundle', bytes: bundle(inner, { offset: undefined }) },
    { name: 'signed-inside.msixbundle', bytes: withZip64(bundle(inner)) },
    { name: 'unsigned-inside.msixbundle', bytes: bundle(plain) },
    { name: 'types-first.msixbundle', bytes: bundle(inner, { typesFirst: true }) },
    { name: 'encrypted.emsix', bytes: Buffer.from('EXPH'.padEnd(200)) },
    { name: 'encrypted.emsixbundle', bytes: Buffer.from('EXBH'.padEnd(200)) },
  ];
}

export async function extensionSamples(): Promise<readonly SpecialSample[]> {
  const plain = makeExtension(Buffer.from('PK\x03\x04 stands for a package'));
  const signer = await makeThrowawaySigner({ publisher: 'Another Publisher' });
  const { result: signed } = await signBytes(navx, plain, signer);
  const hidden = Buffer.concat([signed.subarray(0, -8), Buffer.from('hidden'), signed.subarray(-8)]);
  return [
    ...[...GOOD_EXTENSIONS, ...MALFORMED_EXTENSIONS],
    { name: 'empty.app', bytes: makeExtension(Buffer.alloc(0)) },
    { name: 'named.navx', bytes: plain },
    { name: 'named.bin', bytes: plain },
    { name: 'signed.app', bytes: signed },
    { name: 'signed-with-hidden-bytes.app', bytes: hidden },
    { name: 'signed-and-cut.app', bytes: signed.subarray(0, -1) },
    { name: 'signed-and-appended-to.app', bytes: Buffer.concat([signed, Buffer.from('payload')]) },
    { name: 'twice.app', bytes: Buffer.concat([signed, signed.subarray(plain.length)]) },
  ];
}
