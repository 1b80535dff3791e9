/**
 * What programs that are not ours say of the files that signtool has signed too, once we sign them, and of what else
 * `test/system/interop/special` does not show them: changed files, page hashes and created catalogs. Needs CODESIGN_TEST_PAIRS,
 * CODESIGN_TEST_CORPUS and CODESIGN_TEST_VERIFIERS. osslsigncode is left out where it is known to be wrong; the checkers check all.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { cmsEnvelope } from '../../../src/format/signature.ts';
import { newCatalog } from '../../../src/formats/cat/create.ts';
import { listedFile } from '../../../src/formats/catalogs.ts';
import { msi } from '../../../src/formats/msi/index.ts';
import { scriptKindOf } from '../../../src/formats/script/kinds.ts';
import { isInSample } from '../../support/sample.ts';
import { checkAll, osslsigncodeVerify, run, type Verdict } from '../../system/interop/verifiers.ts';
import { GOOD_EXTENSIONS } from './navx/samples.ts';
import { applyPatch } from './support/apply-patch.ts';
import { placeIn } from './support/change.ts';
import { openBytes, plainReader, type SignBytesOptions } from './support/sign-bytes.ts';
import { filesBelow, type SignedCopies, type SignedCopy, signedCopies } from './support/signed-copies.ts';

const { CODESIGN_TEST_PAIRS: pairs = '', CODESIGN_TEST_CORPUS: corpus = '' } = process.env;
const { CODESIGN_TEST_VERIFIERS: verifiers = '' } = process.env;
const isWhole = pairs !== '' && corpus !== '' && verifiers !== '';
const checker = (name: string) => path.join(verifiers, 'formats', name);

describe.skipIf(!isWhole)('files that are signed', () => {
  let copies: SignedCopies;
  beforeAll(async () => {
    copies = await signedCopies();
  });
  afterAll(() => copies[Symbol.dispose]());

  const signAll = async (files: readonly { name: string; bytes: Buffer }[], options?: SignBytesOptions) => {
    const results: SignedCopy[] = [];
    for (const { name, bytes } of files) results.push(await copies.sign(name, bytes, options));
    return {
      signed: results.filter(({ code }) => code === undefined).map((result) => result.path),
      rejected: Object.fromEntries(
        results.filter(({ code }) => code !== undefined).map(({ name, code }) => [path.basename(name), code]),
      ),
    };
  };
  const checkCms = (file: string) => run('bash', [checker('cmscheck.sh'), `${file}.cms`, copies.root]);
  /** What any of them says against a file, of a sample of the files. */
  const complaints = async (signed: readonly string[], checks: (file: string) => Promise<readonly Verdict[]>) => {
    const sample = signed.filter((_, index) => isInSample(index));
    const verdicts = await checkAll(sample, async (file) => ({ file, verdicts: await checks(file) }));
    return verdicts.filter((each) => each.verdicts.some(({ accepted }) => !accepted));
  };

  it('scripts are accepted by the checkers and osslsigncode, or rejected for a reason', async () => {
    const isScript = (name: string) => scriptKindOf(name) !== undefined;
    const { signed, rejected } = await signAll(filesBelow(path.join(pairs, 'generated-unsigned', 'scripts'), isScript));
    expect(signed.length).toBeGreaterThan(45);
    const bigEndian = Object.keys(rejected).filter((name) => name.startsWith('utf16be'));
    expect(rejected).toEqual(Object.fromEntries(bigEndian.map((name) => [name, 'script-encoding'])));

    const checked = await complaints(signed, async (file) => [
      await run('python3', [checker(scriptKindOf(file)?.family === 'powershell' ? 'pscheck.py' : 'wshcheck.py'), file]),
      await checkCms(file),
      // It knows neither Windows Script Host nor psc1, cdxml and mof.
      ...(/\.ps(1|m1|d1|1xml)$/.test(file) ? [await osslsigncodeVerify(copies.root, file)] : []),
    ]);
    expect(checked).toEqual([]);

    for (const [program, name] of [
      ['pscheck.py', 'utf8-lf.ps1'],
      ['wshcheck.py', 'utf8-lf.vbs'],
    ] as const) {
      const file = signed.find((each) => path.basename(each) === name) ?? '';
      writeFileSync(file, readFileSync(file, 'latin1').replace('psign', 'pSign'), 'latin1');
      expect((await run('python3', [checker(program), file])).accepted).toBe(false);
    }
  });

  it('programs with page hashes are accepted by the checker, and by osslsigncode if their pages are as it takes them', async () => {
    const programs = ['pe', 'pe-special'].flatMap((folder) =>
      filesBelow(path.join(corpus, folder), () => true).filter(({ bytes }) => bytes.toString('latin1', 0, 2) === 'MZ'),
    );
    const { signed, rejected } = await signAll(programs, { pageHashes: true });
    expect(signed.length).toBeGreaterThan(110);
    const withoutPages = Object.entries(rejected).filter(([, code]) => code === 'page-hashes-impossible');
    expect(withoutPages.map(([name]) => name).sort()).toEqual(['soh-past-eof.exe', 'soh-zero.exe']);
    const checked = await complaints(signed, async (file) => {
      const bytes = readFileSync(file);
      const header = bytes.readUInt32LE(60);
      const [sections, alignment] = [bytes.readUInt16LE(header + 6), bytes.readUInt32LE(header + 56)];
      return [
        // It also tries SectionAlignment as the size of a page, and fails if the headers do not fit into that.
        ...(alignment < bytes.readUInt32LE(header + 84) ? [] : [await run('python3', [checker('phcheck.py'), file])]),
        // It takes SectionAlignment for the size of a page, and rejects programs without sections.
        ...(alignment === 4096 && sections > 0 ? [await osslsigncodeVerify(copies.root, file)] : []),
      ];
    });
    expect(checked).toEqual([]);
  });

  it('a cabinet is accepted by the checker, cabextract and osslsigncode', async () => {
    const { signed } = await signAll(filesBelow(path.join(pairs, 'generated-unsigned', 'cab'), () => true));
    expect(signed).toHaveLength(1);
    const checked = await complaints(signed, async (file) => [
      await run('python3', [checker('cabcheck.py'), file]),
      await checkCms(file),
      await run('cabextract', ['-t', file]),
      await osslsigncodeVerify(copies.root, file),
    ]);
    expect(checked).toEqual([]);
  });

  it('a catalog is accepted by openssl and osslsigncode, which reject it once the list changes', async () => {
    const isCatalog = (name: string) => name.endsWith('.cat');
    const { signed } = await signAll(filesBelow(path.join(pairs, 'generated-unsigned', 'catalog'), isCatalog));
    expect(signed).toHaveLength(1);
    const check = async (file: string) => [await checkCms(file), await osslsigncodeVerify(copies.root, file)];
    expect(await complaints(signed, check)).toEqual([]);
    const [file = ''] = signed;
    const changed = readFileSync(file);
    const offset = changed.indexOf('File', 'utf16le') + 1;
    changed[offset] = (changed[offset] ?? 0) ^ 0x01;
    for (const target of [file, `${file}.cms`]) writeFileSync(target, changed);
    expect((await check(file)).map(({ accepted }) => accepted)).toEqual([false, false]);
  });

  it('another program rejects a changed extension of Business Central', async () => {
    const [extension] = GOOD_EXTENSIONS;
    const { path: file } = await copies.sign(extension?.name ?? '', extension?.bytes ?? Buffer.alloc(0));
    const check = () => run('python3', ['test/unit/formats/navx/check.py', file]);
    expect(await check()).toMatchObject({ accepted: true });
    const changed = readFileSync(file);
    changed[50] = 0;
    writeFileSync(file, changed);
    expect(await check()).toMatchObject({ accepted: false });
  });

  it('connection files are accepted by openssl over the content that another program builds', async () => {
    const { signed, rejected } = await signAll(filesBelow(path.join(pairs, 'rdp'), () => true));
    expect(rejected).toEqual({
      'missing-full-address.rdp': 'rdp-address-missing',
      'signscope-missing-field.rdp': 'rdp-signature-damaged',
      'unsigned-utf16be-bom.rdp': 'rdp-encoding',
      'unsigned-utf16be-nobom.rdp': 'rdp-encoding',
      'unsigned-utf16le-nobom.rdp': 'rdp-encoding',
      'with-stale-signature.rdp': 'rdp-signature-damaged',
    });
    const verify = async (file: string) => [
      await run('python3', ['test/unit/formats/rdp/content.py', file]),
      await run('openssl', [
        ...['cms', '-verify', '-inform', 'DER', '-binary', '-in', `${file}.cms`, '-content', `${file}.content`],
        ...['-CAfile', copies.root, '-purpose', 'any', '-out', `${file}.verified`],
      ]),
    ];
    expect(await complaints(signed, verify)).toEqual([]);
    const wide = signed.find((file) => file.endsWith('unsigned-utf16le-bom.rdp')) ?? '';
    writeFileSync(wide, Buffer.from(readFileSync(wide, 'utf16le').replace('3389', '3390'), 'utf16le'));
    expect((await verify(wide)).map(({ accepted }) => accepted)).toEqual([true, false]);
  });

  it('created catalogs list programs and cabinets for osslsigncode, and other files for a checker of their digests', async () => {
    const folder = path.join(pairs, 'generated-unsigned');
    const binaries = [
      ...filesBelow(path.join(folder, 'pe'), () => true),
      ...filesBelow(path.join(folder, 'cab'), () => true),
      ...filesBelow(path.join(corpus, 'pe-special'), (name) => /overlay|odd|dotnet/.test(name)).slice(0, 10),
    ];
    const others = filesBelow(path.join(folder, 'scripts'), () => true);
    expect([binaries.length > 10, others.length > 40]).toEqual([true, true]);
    const listed = await Promise.all(
      [...binaries, ...others].map(({ name, bytes }) => listedFile(memorySource(bytes), plainReader(), name)),
    );
    const catalog = await copies.sign('created.cat', Buffer.from(newCatalog(listed, new Date())));
    expect(catalog.code).toBeUndefined();
    expect((await checkCms(catalog.path)).accepted).toBe(true);
    const byCatalog = (file: string) =>
      run('osslsigncode', ['verify', '-catalog', catalog.path, '-CAfile', copies.root, '-in', file]);
    const checked = await checkAll(binaries, ({ name }) => byCatalog(name));
    expect(checked.filter(({ accepted }) => !accepted)).toEqual([]);
    const changed = path.join(copies.folder, 'changed.exe');
    writeFileSync(changed, Buffer.concat([binaries[0]?.bytes ?? Buffer.alloc(0), Buffer.alloc(8, 1)]));
    expect((await byCatalog(changed)).accepted).toBe(false);
    const program = fileURLToPath(new URL('../../system/interop/check-catalog.py', import.meta.url));
    const flat = await run('python3', [program, catalog.path, ...others.map(({ name }) => name)]);
    expect(flat).toEqual({ accepted: true, output: '' });
    expect((await run('python3', [program, catalog.path, changed])).accepted).toBe(false);
  });

  it('installer files are accepted by the checker, msiinfo and osslsigncode', async () => {
    const isInstaller = (name: string) => /\.ms[ipt]$/.test(name);
    const { signed } = await signAll(filesBelow(path.join(pairs, 'generated-unsigned', 'installer'), isInstaller));
    expect(signed).toHaveLength(3);
    const rejections = await complaints(signed, async (file) => [
      await run('/usr/bin/python3', [checker('msicheck.py'), file]),
      await checkCms(file),
      await osslsigncodeVerify(copies.root, file),
      await run('gsf', ['list', file]),
      ...(file.endsWith('.msi') ? [await run('msiinfo', ['suminfo', file])] : []),
    ]);
    expect(rejections).toEqual([]);
  });

  it('installer files have the streams that signtool gives them once its signature is attached', async () => {
    for (const name of ['tiny.msi', 'tiny-patch.msp']) {
      const [unsigned, signed] = ['unsigned', 'signed'].map((state) =>
        readFileSync(path.join(pairs, `generated-${state}`, 'installer', name)),
      );
      const [signature] = await (await openBytes(msi, signed ?? Buffer.alloc(0), name)).signatures();
      const file = await openBytes(msi, unsigned ?? Buffer.alloc(0), name);
      const { patch } = await placeIn(file, cmsEnvelope(signature?.envelope.bytes ?? Buffer.alloc(0)));
      const target = path.join(copies.folder, name);
      writeFileSync(target, applyPatch(unsigned ?? Buffer.alloc(0), patch));
      const { output, accepted } = await run('/usr/bin/python3', [checker('msicheck.py'), target]);
      expect({ output, accepted }).toMatchObject({ accepted: true, output: expect.stringContaining('prehash OK') });
    }
  });
});
