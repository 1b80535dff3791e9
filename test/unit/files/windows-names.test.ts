import { expect, it } from 'vitest';
import { windowsNameProblem } from '../../../src/files/file-names.ts';

it.each([
  ...['nul', 'NUL.txt', 'out\\con.exe', 'C:/out/COM1.dll', 'lpt².exe', 'prn .exe', 'nul:', 'CONIN$'],
  ...['\\\\?\\C:\\out\\con', '\\\\server\\share\\nul', 'con\\app.exe'],
])('%s is the name of a device', (path) => {
  expect(windowsNameProblem(path)).toContain('is the name of a device');
});

it.each(['out\\dot.', 'space ', 'folder.\\app.exe', 'C:\\...'])('the end of %j gets lost', (path) => {
  expect(windowsNameProblem(path)).toContain('drops the dot or space');
});

it.each(['app.exe:stream', 'a?.exe', 'a*.exe', 'a<b', 'a\tb', 'a|b', 'a"b'])('%j has a forbidden character', (path) => {
  expect(windowsNameProblem(path)).toContain('does not allow');
});

it.each([
  ...['app.exe', 'C:app.exe', 'C:\\a\\.\\..\\b.exe', '\\\\?\\C:\\a\\b.exe', '\\\\server\\share\\a.exe'],
  ...['\\\\?\\UNC\\server\\share\\a.exe', '.hidden', 'console.exe', 'com10.exe', 'nullable.dll', 'ünï 文.exe'],
  'a{b}[c](d)!.exe',
])('%s is allowed', (path) => {
  expect(windowsNameProblem(path)).toBeUndefined();
});
