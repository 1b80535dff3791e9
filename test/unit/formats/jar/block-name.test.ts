/** Holds how a signature's two files are named. */

import { describe, expect, it } from 'vitest';
import type { EmbeddedBlock } from '../../../../src/formats/jar/signature/blocks.ts';
import { blockName, chooseBlockName } from '../../../../src/formats/jar/signature/new-signature.ts';

describe('a name', () => {
  it.each([
    ['Test Publisher', 'TEST_PUB'],
    ['Ünïcode & Co', '_N_CODE_'],
    ['', 'SIGNER'],
    ['lower', 'LOWER'],
    ['ABCDEFGH', 'ABCDEFGH'],
    ['ABCDEFGHI', 'ABCDEFGH'],
    ['a-b_c.1', 'A-B_C_1'],
    ['../../evil', '______EV'],
    ['META-INF/X', 'META-INF'],
    ['語', '_'],
    // One character of two UTF-16 units is one `_`.
    ['😀x', '_X'],
    // In upper case it is two letters.
    ['Straße', 'STRASSE'],
    ['a\r\nb\0', 'A__B_'],
    [' ', '_'],
    ['42', '42'],
  ])('%j becomes %s', (wanted, name) => {
    expect(blockName(wanted)).toBe(name);
  });
});

const bytes = (text: string) => Buffer.from(text);

type Other = Pick<EmbeddedBlock, 'base' | 'signer'>;

function block(base: string, certificate: string | undefined): Other {
  return {
    base,
    signer: { name: 'Somebody Else', certificate: certificate === undefined ? undefined : bytes(certificate) },
  };
}

function chosen(signerName: string | undefined, ...others: readonly Other[]): string {
  return chooseBlockName(signerName, { der: bytes('mine'), name: 'Test Publisher' }, others);
}

describe('next to other signatures', () => {
  it('it is the one of the certificate where that is free', () => {
    expect(chosen(undefined)).toBe('TEST_PUB');
    expect(chosen(undefined, block('OTHER', 'theirs'))).toBe('TEST_PUB');
  });

  it('it is made distinct, in 8 characters', () => {
    const taken = [block('TEST_PUB', 'theirs')];
    expect(chosen(undefined, ...taken)).toBe('TEST_PU2');
    for (let number = 2; number <= 9; number++) taken.push(block(`TEST_PU${number}`, 'theirs'));
    expect(chosen(undefined, ...taken)).toBe('TEST_P10');
    for (let number = 10; number <= 99; number++) taken.push(block(`TEST_P${number}`, `theirs ${number}`));
    expect(chosen(undefined, ...taken)).toBe('TEST_100');
  });

  it('it is the same again for the same certificate, whose signature is replaced', () => {
    expect(chosen(undefined, block('TEST_PUB', 'mine'))).toBe('TEST_PUB');
    expect(chosen('Test Publisher', block('TEST_PUB', 'mine'))).toBe('TEST_PUB');
    const distinct = [block('TEST_PUB', 'theirs'), block('TEST_PU2', 'mine')];
    expect(chosen(undefined, ...distinct)).toBe('TEST_PU2');
  });

  it('a signature whose certificate is not known keeps its name', () => {
    expect(chosen(undefined, block('TEST_PUB', undefined))).toBe('TEST_PU2');
  });

  it('one that the user chose is that one, or refused', () => {
    expect(chosen('build-1')).toBe('BUILD-1');
    expect(chosen('build-1', block('OTHER', 'theirs'))).toBe('BUILD-1');
    expect(() => chosen('Other', block('OTHER', 'theirs'))).toThrow(
      expect.objectContaining({
        code: 'signer-name-taken',
        category: 'local',
        message: expect.stringContaining('Somebody Else'),
      }),
    );
  });

  it('of two blocks of one name the one that is not ours takes it', () => {
    const both = [block('TEST_PUB', 'mine'), block('TEST_PUB', 'theirs')];
    expect(chosen(undefined, ...both)).toBe('TEST_PU2');
    expect(() => chosen('TEST_PUB', ...both)).toThrow(expect.objectContaining({ code: 'signer-name-taken' }));
  });
});
