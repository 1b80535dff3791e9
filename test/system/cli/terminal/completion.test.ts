/** The command that finds candidates, and the scripts that ask it, run by the shells that they are for. */

import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI_PROGRAM, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

const PROFILES = { default: {}, work: { environments: { staging: 'https://staging.example' } } };

async function writeProfiles(folder: string): Promise<void> {
  await writeFile(join(folder, 'config.json'), JSON.stringify({ profiles: PROFILES }), { mode: 0o600 });
}

it.each(['bash', 'zsh', 'fish', 'powershell'])('prints the script for %s', async (shell) => {
  await expect(await scriptFor(shell)).toMatchFileSnapshot(`completion-scripts/${shell}.txt`);
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
