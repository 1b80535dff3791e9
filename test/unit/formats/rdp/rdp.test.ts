/** Connection files: what is written, what a signature covers, and what is refused. */

import { describe, expect, it } from 'vitest';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { rdp } from '../../../../src/formats/rdp/index.ts';
import { signatureValue } from '../../../../src/formats/rdp/layout.ts';
import { hostileCms } from '../../../support/signed-files/hostile-cms.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn, signingIn, stampIn } from '../support/change.ts';
import { codesIn } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';

const ADDRESS = 'full address:s:server.example.com';

const signer = await makeThrowawaySigner();

describe('a connection file', () => {
  const sign = async (text: string) =>
    (await signBytes(rdp, Buffer.from(text, 'latin1'), signer)).result.toString('latin1');
  const findings = (text: string) => codesIn(rdp, Buffer.from(text, 'latin1'));

  it('keeps its lines and line ends, and gets the alternate address, the scope and the signature as last lines', async () => {
    const signed = await sign(`server port:i:3389\nusername:s:\xfc\r\n${ADDRESS}`);
    expect(signed.replace(/Signature:s:[A-Za-z0-9+/=]+/, 'Signature:s:…')).toBe(
      [
        `server port:i:3389\nusername:s:\xfc\r\n${ADDRESS}`,
        'Alternate Full Address:s:server.example.com',
        'SignScope:s:Full Address,Alternate Full Address,Server Port',
        'Signature:s:…\r\n',
      ].join('\r\n'),
    );
  });

  it('is signed again as before when a program put the lines of the signature elsewhere, in lower case and with spaces', async () => {
    const signed = await sign(ADDRESS);
    const lines = signed.trimEnd().split('\r\n');
    const [, , scope = '', signature = ''] = lines;
    const moved = [signature.replace('Signature', 'signature').replace(/.{64}/g, '$& '), ...lines.slice(0, 2), scope];
    const text = `${moved.join('\r\n')}\r\n`;
    expect(await findings(text)).toEqual([]);
    expect(await sign(text)).toBe(signed);
  });

  it('keeps the scope of another program when its signature is stamped or attached again', async () => {
    const lines = [
      ADDRESS,
      'alternate full address:s:server.example.com',
      'signscope:s:full address,Alternate Full Address',
    ];
    const content = Buffer.from(`${lines.join('\r\n')}\r\n\0`, 'utf16le');
    const bytes = hostileCms({ signer, digested: content });
    const text = `${[`signature:s:${signatureValue(bytes)}`, ...lines].join('\r\n')}\r\n`;
    expect(await findings(text)).toEqual([]);
    const file = await openBytes(rdp, Buffer.from(text));
    for (const { patch } of [await stampIn(file, new Map()), await placeIn(file, cmsEnvelope(bytes))]) {
      expect(applyPatch(Buffer.from(text), patch).toString()).toBe(text);
    }
  });

  it.each([
    ['a setting that could be signed is not', (text: string) => text.replace(',PCB', ''), 'rdp-settings-uncovered'],
    ['a setting in the scope is missing', (text: string) => text.replace('pcb:s:x\r\n', ''), 'rdp-scope-wrong'],
    ['a setting is in the scope twice', (text: string) => text.replace(',PCB', ',PCB,PCB'), 'rdp-scope-wrong'],
    ['the scope is in the scope', (text: string) => text.replace(',PCB', ',PCB,SignScope'), 'rdp-scope-wrong'],
    ['the scope is long', (text: string) => text.replace(',PCB', `,PCB${',x'.repeat(300_000)}`), 'rdp-scope-wrong'],
    ['bytes follow the CMS', withZeros, 'hidden-bytes'],
    ['what is there is not a CMS', (text: string) => text.replace(/MII/, 'AAA'), 'signature-unreadable'],
  ])('has a finding when %s', async (_name, change, code) => {
    const codes = await findings(change(await sign(`${ADDRESS}\r\npcb:s:x\r\n`)));
    expect(codes).toContain(code);
  });

  it.each([
    ['rdp-address-missing', 'server port:i:3389\r\n'],
    ['rdp-encoding', `${ADDRESS}\r\nalternate shell:s:\xfc\r\n`],
  ])('is refused before any request: %s', async (code, text) => {
    const file = await openBytes(rdp, Buffer.from(text, 'latin1'));
    expect(await file.signatures()).toEqual([]);
    const checking = signingIn(file).check(signingContext({ chain: signer.chain }), 'replace');
    await expect(checking).rejects.toMatchObject({ code });
  });
});

/** The length in the header counts them. */
function withZeros(text: string): string {
  return text.replace(/Signature:s:(.*)/, (_line, base64: string) => {
    const bytes = Buffer.concat([Buffer.from(base64, 'base64'), Buffer.alloc(3)]);
    bytes.writeUInt32LE(bytes.length - 12, 8);
    return `Signature:s:${bytes.toString('base64')}`;
  });
}
