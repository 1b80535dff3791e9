// Signing and verifying a PDF document of 100 MB, against digesting and copying it: no other program here appends a PAdES signature.
import { execFileSync } from 'node:child_process';
import { createCipheriv } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compete, mebibytes, seconds, spread, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';

const IMAGES = 20;
const BYTES = 100_000_000;
/** Small objects, as of text and annotations. */
const OTHERS = 5000;

export const title = 'PDF: one document of 100 MB, 5,000 objects and 20 images, warm page cache';

/** @returns the table and the numbers. */
export async function bench({ folder, env }, rounds) {
  const [made, signed, output] = ['made', 'verified', 'signed'].map((name) => join(folder, `${name}.pdf`));
  writeFileSync(made, makeDocument());
  execFileSync(process.execPath, [CLI, 'sign', made, '-o', signed], { env, stdio: 'pipe' });
  const contestants = [
    { name: 'sign', command: [process.execPath, CLI, 'sign', made, '-o', output], env },
    { name: 'verify', command: [process.execPath, CLI, 'verify', '--integrity-only', signed] },
    { name: 'pdfsig -nocert', command: ['pdfsig', '-nocert', signed] },
    { name: 'openssl dgst -sha256', command: ['openssl', 'dgst', '-sha256', made] },
    { name: 'cp', command: ['cp', made, output] },
  ];
  const results = await compete(contestants, { rounds, memory: true, before: () => rmSync(output, { force: true }) });
  const rows = contestants.map(({ name }) => {
    const of = results[name];
    return [name, seconds(of.median), spread(of), mebibytes(of.peak)];
  });
  for (const path of [made, signed]) rmSync(path);
  return { text: table(['program', 'median', 'least–most', 'peak memory'], rows), results };
}

/** The same each time. */
function makeDocument() {
  const data = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16)).update(
    Buffer.alloc(BYTES / IMAGES),
  );
  const image = `<< /Type /XObject /Subtype /Image /Width 1000 /Height ${data.length / 1000} /BitsPerComponent 8 /ColorSpace /DeviceGray /Length ${data.length} >>`;
  const values = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] >>',
    ...Array.from({ length: OTHERS }, (_, index) => `<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /NM (${index}) >>`),
  ];
  const parts = [Buffer.from('%PDF-1.7\n')];
  const offsets = [];
  let size = parts[0].length;
  const add = (part) => {
    parts.push(Buffer.from(part));
    size += part.length;
  };
  for (const value of values) {
    offsets.push(size);
    add(`${offsets.length} 0 obj\n${value}\nendobj\n`);
  }
  for (let index = 0; index < IMAGES; index += 1) {
    offsets.push(size);
    add(`${offsets.length} 0 obj\n${image}\nstream\n`);
    parts.push(data);
    size += data.length;
    add('\nendstream\nendobj\n');
  }
  const start = size;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
  add(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries.join('')}`);
  add(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}
