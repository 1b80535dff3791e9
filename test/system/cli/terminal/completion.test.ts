/** The completion scripts, run by the shells that they are for, and the manual page, made from the same definitions. */

import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import { CLI_PROGRAM, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(['completion', shell], { program: CLI_PROGRAM });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

function outputOf(program: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000, ...options });
  if (error) throw error;
  return { status, stdout, stderr };
}

/** What is typed, and what is offered for it; `!` before what is not. */
const TYPED = [
  ['', ['sign', 'verify', 'history', 'completion', '!--version']],
  ['si', ['sign', '!verify']],
  ['sign --al', ['--algorithm', '--all-or-nothing', '!--append']],
  ['sign --algorithm SHA', DIGEST_ALGORITHMS],
  ['sign --file-name ', ['send', 'hide', '!app.exe']],
  ['sign app', ['app.exe', '!--append']],
  ['verify --req', ['--require-timestamp']],
  ['explain file-ch', ['file-changed', '!app.exe']],
  ['completion ', ['bash', 'zsh', 'fish', 'powershell', '!app.exe']],
  ['config set timestamp', ['timestampUrl', 'timestampAlgorithm', '!app.exe']],
  ['config set env', ['environment', 'environments.alternate']],
  ['sign --profile wo', ['work', '!default']],
  ['config remove-profile ', ['work', 'default', '!app.exe']],
  ['history --', ['--since', '--outcome', '!--algorithm']],
] as const;

/** Variables with which the scripts find `codesign-remote` and two profiles. */
async function withProfiles(folder: string): Promise<NodeJS.ProcessEnv> {
  await mkdir(join(folder, 'bin'));
  const program = join(folder, 'bin', 'codesign-remote');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${CLI_PROGRAM}' "$@"\n`, { mode: 0o755 });
  await writeFile(join(folder, 'config.json'), '{"profiles":{"default":{},"work":{}}}', { mode: 0o600 });
  return { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}`, CODESIGN_CONFIG_DIR: folder };
}

function expectOffered(offered: readonly string[], expected: readonly string[]): void {
  for (const word of expected) {
    if (word.startsWith('!')) expect(offered).not.toContain(word.slice(1));
    else expect(offered).toContain(word);
  }
}

describe('in bash', () => {
  it.each(TYPED)('completes "%s"', async (typed, expected) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'app.exe'), '');
    await writeFile(join(folder.path, 'script.bash'), await scriptFor('bash'));
    const words = ['codesign-remote', ...typed.split(' ')];
    // Paths are left to readline, which offers what compgen -f does.
    const { stdout, stderr } = outputOf(
      'bash',
      [
        '--norc',
        '-c',
        `source script.bash; compopt() { [[ $* == *+o\\ default* ]] && plain=yes; }
         COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
         _codesign_remote
         if ((\${#COMPREPLY[@]} == 0)) && [[ -z $plain ]]; then COMPREPLY=($(compgen -f -- '${words.at(-1)}')); fi
         printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      { cwd: folder.path, env: await withProfiles(folder.path) },
    );
    expect(stderr).toBe('');
    expectOffered(stdout.split('\n'), expected);
  });

  it('completes the value behind an equals sign', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'script.bash'), await scriptFor('bash'));
    const { stdout } = outputOf(
      'bash',
      [
        '--norc',
        '-c',
        `source script.bash; compopt() { :; }
         COMP_WORDS=(codesign-remote sign --file-name = hi); COMP_CWORD=4; _codesign_remote; printf '%s' "\${COMPREPLY[*]}"`,
      ],
      { cwd: folder.path },
    );
    expect(stdout).toBe('hide');
  });
});

describe('in fish', () => {
  it.each(TYPED)('completes "%s"', async (typed, expected) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'app.exe'), '');
    await writeFile(join(folder.path, 'script.fish'), await scriptFor('fish'));
    const { stdout, stderr } = outputOf(
      'fish',
      ['--no-config', '-c', `source script.fish; complete -C 'codesign-remote ${typed}'`],
      {
        cwd: folder.path,
        env: { ...(await withProfiles(folder.path)), HOME: folder.path, XDG_CONFIG_HOME: folder.path },
      },
    );
    expect(stderr).toBe('');
    expectOffered(
      stdout.split('\n').map((line) => line.split('\t')[0] ?? ''),
      expected,
    );
  });
});

describe('in zsh', () => {
  it.each(TYPED)('completes "%s"', async (typed, expected) => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'app.exe'), '');
    await mkdir(join(folder.path, 'functions'));
    await writeFile(join(folder.path, 'functions', '_codesign-remote'), await scriptFor('zsh'));
    // In a shell of its own on a pseudo-terminal; each match is reported by what compadd is given.
    const { stdout } = outputOf('zsh', ['-f', '-c', ZSH_CAPTURE, 'capture', `codesign-remote ${typed}`], {
      cwd: folder.path,
      env: { ...(await withProfiles(folder.path)), HOME: folder.path, TERM: 'dumb' },
    });
    expectOffered(
      stdout.split(/\r?\n/).filter((line) => line !== ''),
      expected,
    );
  });
});

/**
 * Told by what compadd is given; the shell itself runs on a pseudo-terminal, as only there anything is completed. It is typed
 * to when its line editor reads, or the terminal itself would take the keys.
 */
const ZSH_CAPTURE = `
zmodload zsh/zpty
print -r -- 'compadd() {
  local -a __hits
  if (( \${@[(I)-[OAD]]} )); then builtin compadd "$@"; return $?; fi
  builtin compadd -A __hits "$@"
  print -rl -- $__hits >> hits
  builtin compadd "$@"
}
zle-line-init() { print >> ready }
zle -N zle-line-init
told() { print >> done }
zle -N told
bindkey "^Xq" told' > hook.zsh
zpty shell zsh -f -i
zpty -w shell 'fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u -D; source ./hook.zsh'
integer tries=0
while [[ ! -e ready ]] && (( tries++ < 1000 )); do sleep 0.02; done
zpty -w -n shell "$1"$'\\t\\x18q'
tries=0
while [[ ! -e done ]] && (( tries++ < 1000 )); do sleep 0.02; done
zpty -d shell
[[ -e hits ]] && cat hits
`;

it('rejects a shell that it does not know, and names those that it does', async () => {
  const { code, stdout, stderr } = await runCli(['completion', 'tcsh'], { program: CLI_PROGRAM });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('Allowed choices are bash, zsh, fish, powershell.');
});

it('gives PowerShell every command and option', async () => {
  const script = await scriptFor('powershell');
  for (const word of ['sign', '--algorithm', 'SHA512', '--require-timestamp']) expect(script).toContain(`'${word}'`);
  // No PowerShell runs here: at least nothing that opens stays open.
  for (const [opening, closing] of ['()', '{}', '[]'] as const) {
    const outside = script.replace(/'(?:[^']|'')*'/g, '');
    expect(outside.split(opening ?? '').length).toBe(outside.split(closing ?? '').length);
  }
});
