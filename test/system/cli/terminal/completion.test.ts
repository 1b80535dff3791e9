/** The command that finds candidates, and the scripts that ask it, run by the shells that they are for. */

import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../../src/cli/command-table.ts';
import { DIGEST_ALGORITHMS } from '../../../../src/crypto/algorithms.ts';
import { CLI_PROGRAM, runCli, runCliProcess, temporaryFolder } from '../../../support/programs/cli.ts';

const PROFILES = { default: {}, work: { environments: { staging: 'https://staging.example' } } };

async function writeProfiles(folder: string): Promise<void> {
  await writeFile(join(folder, 'config.json'), JSON.stringify({ profiles: PROFILES }), { mode: 0o600 });
}

/** The candidates for the last word, without their descriptions. */
async function offeredFor(typed: readonly string[]): Promise<readonly string[]> {
  await using folder = await temporaryFolder();
  await writeProfiles(folder.path);
  const run = await runCli(['complete', '--', ...typed], { env: { CODESIGN_CONFIG_DIR: folder.path } });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  return run.stdout.split('\n').flatMap((line) => (line === '' ? [] : line.split('\t').slice(0, 1)));
}

describe('codesign-remote complete', () => {
  it.each<[typed: readonly string[], offered: readonly string[]]>([
    [['-'], ['--help', '--version']],
    [['si'], ['sign']],
    [['"si'], ['sign']],
    [
      ['config', ''],
      ['list', 'set', 'profiles', 'remove-profile'],
    ],
    [
      ['sign', '--al'],
      ['--algorithm', '--all-or-nothing'],
    ],
    [
      ['sign', 'app.exe', '--al'],
      ['--algorithm', '--all-or-nothing'],
    ],
    [
      ['--profile', 'work', 'sign', '--al'],
      ['--algorithm', '--all-or-nothing'],
    ],
    [['sign', '--algorithm', 'SHA'], DIGEST_ALGORITHMS],
    [['sign', '-a', 'SHA51'], ['SHA512']],
    [['sign', '--file-name=h'], ['--file-name=hide']],
    [
      ['sign', '--file-name', '='],
      ['send', 'hide'],
    ],
    [['sign', '--file-name', '=', 'h'], ['hide']],
    [['sign', '--extra', 'host'], ['hostname=']],
    [['sign', '--concurrency', ''], []],
    [['sign', ''], [':files']],
    [['sign', '--all-or-nothing', 'a'], [':files']],
    [['sign', '--require-timestamp', 'a'], [':files']],
    [['sign', '--output=di'], [':files']],
    [['verify', '--roots', ''], [':files']],
    [['attach', 'app.exe', ''], [':files']],
    [['inspect', 'app.exe', ''], []],
    [
      ['sign', '-p', ''],
      ['default', 'work'],
    ],
    [['config', 'remove-profile', 'w'], ['work']],
    [
      ['sign', '-e', ''],
      ['production', 'alternate'],
    ],
    [
      ['sign', '--profile', 'work', '-e', ''],
      ['production', 'alternate', 'staging'],
    ],
    [['config', 'set', 'timestampU'], ['timestampUrl']],
    [
      ['config', 'set', 'env'],
      ['environment', 'environments.production', 'environments.alternate'],
    ],
    [['config', 'set', '-p', 'work', 'environments.s'], ['environments.staging']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [['completion', 'bash', ''], []],
    [['no-such-command', ''], []],
    [['config', 'no-such-command', ''], []],
  ])('offers for %j exactly %j', async (typed, offered) => {
    expect((await offeredFor(typed)).toSorted()).toEqual(offered.toSorted());
  });

  it.each([[['']], [['""']]])('offers every command for %j, and no option', async (typed) => {
    const names = PROGRAM.commands.map(({ name }) => name);
    expect(await offeredFor(typed)).toEqual(names);
  });

  it('offers the options of a command after a dash, and --help', async () => {
    const offered = await offeredFor(['sign', '-']);
    expect(offered).toEqual(expect.arrayContaining(['-c', '--code', '--file-name', '--help']));
    expect(offered).not.toContain('--roots');
  });

  it('offers error codes of the page of the installed package', async () => {
    const run = await runCliProcess(['complete', '--', 'explain', 'signature-mis']);
    expect(run.stdout).toBe('signature-mismatch\n');
  });

  it('describes commands and options', async () => {
    expect((await runCli(['complete', '--', 'explai'])).stdout).toBe(
      'explain\tshow the cause, remedy and exit code of an error\n',
    );
    expect((await runCli(['complete', '--', 'sign', '--file-n'])).stdout).toMatch(/^--file-name\t.*: send, hide/);
  });

  it('takes the profile from the environment, and offers nothing if the file of the profiles is damaged', async () => {
    await using folder = await temporaryFolder();
    await writeProfiles(folder.path);
    const env = { CODESIGN_CONFIG_DIR: folder.path, CODESIGN_PROFILE: 'work' };
    expect((await runCli(['complete', '--', 'sign', '-e', 's'], { env })).stdout).toBe('staging\n');
    await writeFile(join(folder.path, 'config.json'), '{');
    const damaged = await runCli(['complete', '--', 'sign', '-p', ''], { env });
    expect([damaged.code, damaged.stdout]).toEqual([2, '']);
  });
});

describe('codesign-remote completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints the script for %s', async (shell) => {
    await expect(await scriptFor(shell)).toMatchFileSnapshot(`completion-scripts/${shell}.txt`);
  });

  it('rejects a shell that it does not know, and names those that it does', async () => {
    const { code, stdout, stderr } = await runCli(['completion', 'tcsh']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('<shell> must be one of bash, zsh, fish, powershell');
  });
});

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What is typed in a shell, and what it offers; `!` before what it does not offer. */
const TYPED = [
  ['si', ['sign', '!verify']],
  ['sign --file-name ', ['send', 'hide', '!app.exe']],
  ['sign --extra host', ['hostname=', '!app.exe']],
  ['sign app', ['app.exe', '!--append']],
] as const;
/** Between the answers of one shell. */
const NEXT = '--next--';

describe('the script', () => {
  /** Calls the function as readline does, which itself offers file names after `compopt -o default`. */
  const BASH = `source script.bash; compopt() { [[ $* == '-o default' ]] && files=yes; }
    for word in "$@"; do
      if [[ $word != ${NEXT} ]]; then words+=("$word"); continue; fi
      COMP_WORDS=("\${words[@]}"); COMP_CWORD=$((\${#words[@]} - 1)); COMPREPLY=(); files=; _codesign_remote
      if [[ $files == yes ]]; then COMPREPLY=($(compgen -f -- "\${words[-1]}")); fi
      printf '%s\\n' "\${COMPREPLY[@]}" ${NEXT}
      words=()
    done`;
  const FISH = `source script.fish; for typed in $argv; complete -C $typed | string replace -r '\\t.*' ''; echo ${NEXT}; end`;
  /**
   * Runs zsh on a pseudo-terminal, because completion works only there, and records what compadd is given. Keys are sent once
   * its line editor reads, or the terminal itself would take them.
   */
  const ZSH = `
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
answered() { BUFFER=; print >> done }
zle -N answered
bindkey "^Xq" answered' > hook.zsh
wait_for() { integer tries=0; while [[ ! -e $1 ]] && (( tries++ < 1000 )); do sleep 0.02; done }
zpty shell zsh -f -i
zpty -w shell 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D; source ./hook.zsh'
wait_for ready
for typed; do
  rm -f done hits
  zpty -w -n shell "$typed"$'\\t\\x18q'
  wait_for done
  [[ -e hits ]] && cat hits
  print -r -- ${NEXT}
done
zpty -d shell`;
  const line = (typed: string) => [`codesign-remote ${typed}`];
  const words = (typed: string) => ['codesign-remote', ...typed.split(' '), NEXT];

  it.each([
    ['bash', ['--norc', '-c', BASH, 'capture'], words, 'script.bash', ['sign --file-name = hi', ['hide']]],
    ['fish', ['--no-config', '-c', FISH], line, 'script.fish', ['sign --file-name=hi', ['--file-name=hide']]],
    ['zsh', ['-f', '-c', ZSH, 'capture'], line, '_codesign-remote', ['sign --file-name=hi', ['--file-name=hide']]],
  ] as const)('completes in %s', async (shell, args, asArguments, file, own) => {
    await using folder = await temporaryFolder();
    const program = join(folder.path, 'bin', 'codesign-remote');
    await mkdir(join(folder.path, 'bin'));
    await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${CLI_PROGRAM}' "$@"\n`, { mode: 0o755 });
    await writeFile(join(folder.path, 'app.exe'), '');
    await writeFile(join(folder.path, file), await scriptFor(shell));
    await writeProfiles(folder.path);
    const typed = [...TYPED, own];
    const { stdout, stderr, error } = spawnSync(shell, [...args, ...typed.flatMap(([text]) => asArguments(text))], {
      encoding: 'utf8',
      timeout: 60_000,
      cwd: folder.path,
      env: {
        ...process.env,
        PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
        CODESIGN_CONFIG_DIR: folder.path,
        HOME: folder.path,
        XDG_CONFIG_HOME: folder.path,
        TERM: 'dumb',
      },
    });
    if (error) throw error;
    expect(stderr).toBe('');
    const answers = stdout.split(new RegExp(`^${NEXT}\\r?\\n`, 'm'));
    expect(answers).toHaveLength(typed.length + 1);
    for (const [index, [text, expected]] of typed.entries()) {
      const offered = (answers[index] ?? '').split(/\r?\n/);
      for (const word of expected) {
        const isOffered = offered.includes(word.replace('!', ''));
        expect([text, word, isOffered]).toEqual([text, word, !word.startsWith('!')]);
      }
    }
  });
});
