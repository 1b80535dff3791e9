/** Documents that other programs made, signed here and checked by pdfsig, qpdf, OpenSSL and a renderer. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../../../../src/formats/pdf/index.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { issue, testKey } from '../../../support/signed-files/pki.ts';
import { signerOf, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { must, run } from '../../../system/interop/verifiers.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { removalOf } from '../support/change.ts';
import { codesOf } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { makePdf } from './make-pdf.ts';
import { GOOD_DOCUMENTS } from './samples.ts';

/** pdfsig accepts certificates for e-mail, and reports an unknown issue for those of code signing. */
const EMAIL_PROTECTION = '1.3.6.1.5.5.7.3.4';

/** Where pdf-lib is installed. */
const TOOLS = process.env.CODESIGN_TEST_BUILD_TOOLS ?? '';

let signer: ThrowawaySigner;
const folder = folderForAll();
const at = (name: string) => path.join(folder, name);

beforeAll(async () => {
  const root = issue({ commonName: 'Document Root', key: testKey('rsa-2048', 'document root'), ca: true });
  const key = testKey('rsa-2048', 'document leaf');
  const leaf = issue({ commonName: 'Document Signer', issuer: root, key, purposes: [EMAIL_PROTECTION] });
  signer = await signerOf(leaf, root);
  writeFileSync(at('root.pem'), root.pem);
  mkdirSync(at('nss'));
  await must('certutil', ['-N', '-d', `sql:${at('nss')}`, '--empty-password']);
  await must('certutil', ['-A', '-d', `sql:${at('nss')}`, '-n', 'root', '-t', 'CT,CT,CT', '-i', at('root.pem')]);
  writeFileSync(at('key.pem'), key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(at('leaf.pem'), leaf.pem);
  const from = ['pkcs12', '-export', '-inkey', at('key.pem'), '-in', at('leaf.pem'), '-name', 'leaf'];
  await must('openssl', [...from, '-out', at('leaf.p12'), '-passout', 'pass:']);
  await must('pk12util', ['-i', at('leaf.p12'), '-d', `sql:${at('nss')}`, '-W', '', '-K', '']);
  await makeDocuments();
});

/** By groff, ghostscript, Chromium, qpdf and pdf-lib. */
async function makeDocuments(): Promise<void> {
  const made = (device: string) => {
    const { stdout } = spawnSync('groff', ['-ms', `-T${device}`], { input: '.TL\nA title\n.PP\nA paragraph.\n' });
    writeFileSync(at(`groff.${device}`), stdout);
  };
  made('pdf');
  made('ps');
  await must('ps2pdf', [at('groff.ps'), at('ghostscript.pdf')]);
  writeFileSync(at('page.html'), '<!doctype html><title>A page</title><h1>A title</h1><p><a href="#x">A link</a>');
  const headless = ['--headless', '--no-sandbox', '--disable-gpu'];
  await must('chromium', [...headless, `--print-to-pdf=${at('chromium.pdf')}`, at('page.html')]);
  await must('qpdf', ['--linearize', at('groff.pdf'), at('linearised.pdf')]);
  await must('qpdf', ['--object-streams=generate', at('chromium.pdf'), at('object-streams.pdf')]);
  await must('qpdf', ['--encrypt', 'user', 'owner', '256', '--', at('groff.pdf'), at('encrypted.pdf')]);
  if (TOOLS !== '') await makeWithPdfLib();
  for (const { name, bytes } of GOOD_DOCUMENTS) writeFileSync(at(name), bytes);
}

/** A form of its own, and a document of groff that it wrote again: with object streams, as is its default, and without. */
async function makeWithPdfLib(): Promise<void> {
  const { PDFDocument } = createRequire(path.join(TOOLS, 'package.json'))('pdf-lib');
  const made = await PDFDocument.create();
  const page = made.addPage([300, 200]);
  page.drawText('A form', { x: 20, y: 150 });
  made.getForm().createTextField('name.first').addToPage(page, { x: 20, y: 100, width: 100, height: 20 });
  made.getForm().createCheckBox('agreed').addToPage(page, { x: 20, y: 60, width: 20, height: 20 });
  writeFileSync(at('pdf-lib-form.pdf'), await made.save());
  const loaded = await PDFDocument.load(readFileSync(at('groff.pdf')));
  writeFileSync(at('pdf-lib-rewritten.pdf'), await loaded.save({ useObjectStreams: false }));
}

const DOCUMENTS = [
  ...['groff', 'ghostscript', 'chromium', 'linearised', 'object-streams'],
  ...(TOOLS === '' ? [] : ['pdf-lib-form', 'pdf-lib-rewritten']),
  // Poppler cannot show odd-streams.pdf, signed or not.
  ...GOOD_DOCUMENTS.map(({ name }) => path.basename(name, '.pdf')).filter((name) => name !== 'odd-streams'),
];

/** What pdfsig says of each signature. It always exits with 0. */
async function pdfsig(file: string) {
  const output = await must('pdfsig', ['-nssdir', `sql:${at('nss')}`, file]);
  const all = output.split(/^Signature #/m).slice(1);
  return all.filter((each) => !each.includes('is not signed'));
}

async function signByPdfsig(from: string, to: string): Promise<void> {
  await must('pdfsig', ['-nssdir', `sql:${at('nss')}`, '-add-signature', '-nick', 'leaf', at(from), at(to)]);
}

/** Codes of the findings of each signature. */
const codesIn = async (bytes: Buffer) => Promise.all((await (await openBytes(pdf, bytes)).signatures()).map(codesOf));

async function pixels(file: string, name: string): Promise<readonly Buffer[]> {
  await must('pdftoppm', ['-r', '50', file, at(name)]);
  const pages = readdirSync(folder)
    .filter((each) => each.startsWith(`${name}-`) && each.endsWith('.ppm'))
    .sort();
  return pages.map((page) => readFileSync(at(page)));
}

describe('signed documents', () => {
  it.each(DOCUMENTS)('%s.pdf is accepted by pdfsig, qpdf and OpenSSL, and shows the same pixels', async (name) => {
    const bytes = readFileSync(at(`${name}.pdf`));
    const first = await signBytes(pdf, bytes, signer);
    const { result } = await signBytes(pdf, first.result, signer, { algorithm: 'SHA512', reason: 'Geprüft' });
    const file = at(`${name}-signed.pdf`);
    writeFileSync(file, result);
    expect(result.subarray(0, bytes.length).equals(bytes)).toBe(true);

    const signatures = await pdfsig(file);
    expect(signatures).toHaveLength(2);
    for (const each of signatures) {
      expect(each).toContain('Signature Validation: Signature is Valid.');
      expect(each).toContain('Signature Type: ETSI.CAdES.detached');
    }
    // It validates the certificate of the first one only, when both have the same.
    expect(signatures[0]).toContain('Certificate Validation: Certificate is Trusted.');
    expect(signatures[1]).toContain('Total document signed');
    // It warns of odd documents, as it did before they were signed.
    const [before, after] = [await run('qpdf', ['--check', at(`${name}.pdf`)]), await run('qpdf', ['--check', file])];
    expect(after).toMatchObject({ accepted: after.accepted || before.accepted });

    for (const { envelope } of await (await openBytes(pdf, result)).signatures())
      writeFileSync(at('last.cms'), envelope.bytes);
    const range = /\/ByteRange \[0 (\d+) +(\d+) +(\d+)/.exec(result.toString('latin1', first.result.length));
    const [a = 0, b = 0, c = 0] = range?.slice(1).map(Number) ?? [];
    writeFileSync(at('content'), Buffer.concat([result.subarray(0, a), result.subarray(b, b + c)]));
    const verify = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', at('last.cms'), '-content', at('content')];
    await must('openssl', [...verify, '-CAfile', at('root.pem'), '-purpose', 'any', '-cades', '-out', '/dev/null']);

    expect(await pixels(file, `after-${name}`)).toEqual(await pixels(at(`${name}.pdf`), `before-${name}`));
    const opened = await openBytes(pdf, result);
    expect(applyPatch(result, await removalOf(opened)).equals(first.result)).toBe(true);
  });

  // Poppler does not add its field to a /Fields that is an object of its own, and adds a font to a form with text fields.
  it.each(DOCUMENTS.filter((name) => !['form', 'pdf-lib-form'].includes(name)))(
    'a signature of %s.pdf stays intact when pdfsig signs after it',
    async (name) => {
      const { result } = await signBytes(pdf, readFileSync(at(`${name}.pdf`)), signer);
      writeFileSync(at('ours.pdf'), result);
      await signByPdfsig('ours.pdf', 'signed-again.pdf');
      const codes = await codesIn(readFileSync(at('signed-again.pdf')));
      expect(codes.length).toBeGreaterThan(1);
      expect(codes.flat()).toEqual([]);
    },
  );

  it('an encrypted document is rejected', async () => {
    await expect(openBytes(pdf, readFileSync(at('encrypted.pdf')))).rejects.toMatchObject({ code: 'pdf-encrypted' });
  });

  const NOTE = '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] >>';
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 5);

  const CHAIN = { page: '/Chain 5 0 R', objects: numbers(100_000).map((number) => `[${number + 1} 0 R]`) };
  const list = numbers(20_000).map((number) => `${number} 0 R`);
  const ANNOTATED = { page: `/Annots [${list.join(' ')}]`, objects: list.map(() => NOTE) };

  it.each([
    ['20,000 annotations', ANNOTATED],
    ['100,000 objects that each lead to the next', CHAIN],
  ])('a document of %s is signed twice, and both signatures are intact', async (_what, shape) => {
    const first = await signBytes(pdf, makePdf(shape), signer);
    const { result } = await signBytes(pdf, first.result, signer);
    const signatures = await (await openBytes(pdf, result)).signatures();
    expect(signatures).toHaveLength(2);
    for (const each of signatures) expect(await each.examine()).toEqual([]);
  });

  it('a signature of pdfsig is intact, and stays so next to one of ours', async () => {
    await signByPdfsig('groff.pdf', 'by-pdfsig.pdf');
    const { result } = await signBytes(pdf, readFileSync(at('by-pdfsig.pdf')), signer);
    expect(await codesIn(result)).toEqual([[], []]);
  });
});
