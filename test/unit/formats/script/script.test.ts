import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { recogniseFormat } from '../../../../src/formats/recognise.ts';
import { formats } from '../../../../src/formats/registry.ts';
import { powershell, wsh } from '../../../../src/formats/script/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { signingIn, warningsOf } from '../support/change.ts';
import { codesIn } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { WSF_WITH_JOBS, WSF_WITHOUT_JOB } from './samples.ts';

const signer = await makeThrowawaySigner();

describe('a Windows Script file', () => {
  it('gets its signature directly before the last </job>', async () => {
    const { result } = await signBytes(wsh, WSF_WITH_JOBS, signer, { name: 'a.wsf' });
    const text = result.toString();
    const blocks = text.match(/\r\n<signature>\r\n(\*\* SIG \*\* [A-Za-z0-9+/=]{1,44}\r\n)+<\/signature>\r\n<\/job>/g);
    expect(blocks).toHaveLength(1);
    expect(text.endsWith(`${blocks?.[0]}\r\n</package>\r\n`)).toBe(true);
    expect(text.replace(blocks?.[0] ?? '', '</job>')).toBe(WSF_WITH_JOBS.toString());
  });

  it('is not intact once text after the signature has changed', async () => {
    const { result } = await signBytes(wsh, WSF_WITH_JOBS, signer, { name: 'a.wsf' });
    const changed = Buffer.from(result.toString().replace('</package>\r\n', '</package>\r\n\r\n'));
    expect(await codesIn(wsh, changed, 'a.wsf')).toEqual(['content-digest-differs']);
  });

  it('is rejected if it has no job', async () => {
    await expect(openBytes(wsh, WSF_WITHOUT_JOB, 'a.wsf')).rejects.toMatchObject({ code: 'script-job-missing' });
  });
});

it.each(['app.js', 'APP.JS'])('a JavaScript file is signed only with --wsh: %s', async (name) => {
  const signing = signingIn(await openBytes(wsh, Buffer.from('alert(1);\r\n'), name));
  const check = (options: Record<string, boolean>) =>
    signing.check(signingContext({ chain: signer.chain }, options), 'replace');
  await expect(check({})).rejects.toMatchObject({ code: 'wsh-not-allowed' });
  await check({ wsh: true });
});

it('warns if the script has line ends that git changes, and only then', async () => {
  const warningsFor = async (text: string) => (await warningsOf(await openBytes(powershell, Buffer.from(text)))).length;
  expect(await warningsFor('a\nb\n')).toBe(1);
  expect(await warningsFor('a\r\nb\n')).toBe(1);
  expect(await warningsFor('a\r\nb\r\n')).toBe(0);
});

it('reports a signature that names another kind of script, as some programs write for .js', async () => {
  const { sealed } = await signBytes(powershell, Buffer.from('x\r\n'), signer);
  const lines = Buffer.from(sealed)
    .toString('base64')
    .replace(/.{1,44}/g, '// SIG // $&\r\n');
  const script = `x\r\n\r\n// SIG // Begin signature block\r\n${lines}// SIG // End signature block\r\n`;
  expect(await codesIn(wsh, Buffer.from(script), 'a.js')).toContain('signed-kind-differs');
});

it('keeps the extension, which says how the signature is written', async () => {
  const recognise = (output: string, path: string) =>
    recogniseFormat(memorySource(Buffer.from('x\r\n')), [output, path], { formats });
  await expect(recognise('out.bin', 'in.ps1')).rejects.toMatchObject({ code: 'extension-changes' });
  expect((await recognise('OUT.PS1', 'in.ps1')).id).toBe('powershell');
});
