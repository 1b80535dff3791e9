/**
 * Packages before and after `dotnet nuget sign` (CODESIGN_TEST_PAIRS), and what nuget.exe, run by mono, says of the signature
 * of a repository (CODESIGN_TEST_NUGET: its path). `test/system/interop/special` shows it packages of every other kind.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { flipped } from '../../../support/flipped.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { nugetVerify } from '../../../system/interop/verifiers.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, removalOf } from '../support/change.ts';
import { codesOf, isAccepted } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { OWNERS, SERVICE_INDEX, signedAgain } from './repository-signatures.ts';
import { makePackage } from './samples.ts';

const { CODESIGN_TEST_PAIRS: pairs = '', CODESIGN_TEST_NUGET: program = '' } = process.env;
const read = (name: string) => readFileSync(path.join(pairs, 'package-signing', name));

const directoryOf = (bytes: Buffer) => bytes.readUInt32LE(bytes.length - 6);
const placesOf = (bytes: Buffer) => {
  const directory = directoryOf(bytes);
  return {
    directory,
    local: bytes.lastIndexOf('PK\x03\x04', directory, 'latin1'),
    record: bytes.lastIndexOf('PK\x01\x02', -22, 'latin1'),
  };
};

describe.skipIf(pairs === '')('a package that dotnet nuget sign signed', () => {
  const readPair = () => [read('signed/sample.signed.nupkg'), read('unsigned/sample.nupkg')];
  const [signed = Buffer.of(), unsigned = Buffer.of()] = pairs === '' ? [] : readPair();

  it('is intact: its signer is named by the key, its algorithms have no parameters', async () => {
    const file = await openBytes(nuget, signed);
    expect(await file.examine()).toEqual([]);
    const [signature] = await file.signatures();
    expect(await codesOf(signature)).toEqual([]);
    expect(parseSignedData(signature?.envelope.bytes ?? Buffer.of()).signers[0].issuerAndSerial).toBeUndefined();
  });

  it('is made again from the unsigned package, byte for byte but the time of the entry, and gives that back', async () => {
    const file = await openBytes(nuget, signed);
    const [signature] = await file.signatures();
    expect(applyPatch(signed, await removalOf(file))).toEqual(unsigned);
    const { bytes } = signature?.envelope ?? cmsEnvelope(Buffer.alloc(0));
    const { patch } = await placeIn(await openBytes(nuget, unsigned), cmsEnvelope(bytes));
    const made = applyPatch(unsigned, patch);
    const { local, record } = placesOf(signed);
    for (const at of [local + 10, record + 12]) signed.copy(made, at, at, at + 4);
    expect(made).toEqual(signed);
  });

  it('is rejected once a byte of it changes, of whatever kind', async () => {
    expect(await isAccepted(nuget, signed)).toBe(true);
    const { local, record, directory } = placesOf(signed);
    const accepted: number[] = [];
    for (let at = 0; at < signed.length; at++) {
      if (await isAccepted(nuget, flipped(signed, at))) accepted.push(at);
    }
    // Only what no one signs: time and attributes of the signature's own entry, and who made it.
    const free = [local + 10, local + 11, local + 12, local + 13, record + 4, record + 5];
    const alsoFree = [record + 12, record + 13, record + 14, record + 15, record + 36, record + 37];
    expect(accepted).toEqual([...free, ...alsoFree].sort((a, b) => a - b));
    expect(directory).toBeLessThan(record);
  });
});

// Under mono, nuget.exe finds no certificate for a countersignature: only the signature of a repository itself is compared.
describe.skipIf(program === '')('a repository signature', () => {
  const folder = folderForAll();

  it('is read by nuget.exe in the same way', async () => {
    const signer = await makeThrowawaySigner({ publisher: 'Test Repository' });
    const plain = makePackage();
    const { sealed } = await signBytes(nuget, plain, signer);
    const cms = signedAgain(sealed, signer, 'repository');
    const { patch } = await placeIn(await openBytes(nuget, plain), cmsEnvelope(cms));
    const file = path.join(folder, 'test.nupkg');
    writeFileSync(file, applyPatch(plain, patch));
    const { accepted, output } = await nugetVerify(program, file);
    expect(output).toContain('Signature type: Repository');
    expect(output).toContain(`nuget-v3-service-index-url: ${SERVICE_INDEX}`);
    expect(output).toContain(`nuget-package-owners: ${OWNERS.join(', ')}`);
    expect([accepted, output]).toEqual([true, output]);
  });
});
