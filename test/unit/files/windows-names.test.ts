import { describe, expect, it } from 'vitest';
import { windowsNameProblem } from '../../../src/files/file-names.ts';

describe('names that Windows treats in a special way', () => {
  it.each([
    'nul',
    'NUL.txt',
    'out\\con.exe',
    'C:\\out\\aux',
    'C:/out/COM1.dll',
    'lpt².exe',
    'prn .exe',
    'nul:',
    'CONIN$',
    '\\\\?\\C:\\out\\con',
    '\\\\server\\share\\nul',
    'con\\app.exe',
  ])('names the device in %s', (path) => {
    expect(windowsNameProblem(path)).toContain('is the name of a device');
  });

  it.each(['out\\dot.', 'space ', 'folder.\\app.exe', 'C:\\...'])('names the end that gets lost in %s', (path) => {
    expect(windowsNameProblem(path)).toContain('drops the dot or space');
  });

  it.each(['app.exe:stream', 'a?.exe', 'a*.exe', 'a<b', 'a\tb', 'a|b', 'a"b'])(
    'names the character that is not allowed in %s',
    (path) => {
      expect(windowsNameProblem(path)).toContain('does not allow');
    },
  );

  it.each([
    'app.exe',
    'C:app.exe',
    'C:\\a\\.\\..\\b.exe',
    '\\\\?\\C:\\a\\b.exe',
    '\\\\server\\share\\a.exe',
    '\\\\?\\UNC\\server\\share\\a.exe',
    '.hidden',
    'console.exe',
    'com10.exe',
    'nullable.dll',
    'ünï 文.exe',
    'a{b}[c](d)!.exe',
  ])('has nothing against %s', (path) => {
    expect(windowsNameProblem(path)).toBeUndefined();
  });
});
