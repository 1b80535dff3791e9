/** Reads the metadata file of a composite action, as much of YAML as such a file needs, and runs its own steps as a runner does. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { watchRun } from './credential-watch.ts';
import { pathWithSqlite } from './node-with-sqlite.ts';

/** A value by its keys, with dots between: `inputs.files.required`, `runs.steps.2.env.SIGN_FILES`. */
export type Values = ReadonlyMap<string, string>;

export interface Step {
  readonly id: string;
  /** Of this step, by the rest of the key: `run`, `env.SIGN_FILES`. */
  readonly values: Values;
}

export interface ActionFile {
  readonly path: string;
  readonly values: Values;
  readonly steps: readonly Step[];
}

export interface StepRun {
  readonly code: number | null;
  readonly log: string;
  readonly outputs: Values;
  readonly summary: string;
}

export async function readAction(path: string): Promise<ActionFile> {
  const values = readValues(await readFile(path, 'utf8'));
  const steps: Step[] = [];
  for (let index = 0; values.has(`runs.steps.${index}.id`); index++) {
    const own = under(values, `runs.steps.${index}`);
    steps.push({ id: own.get('id') ?? '', values: own });
  }
  return { path, values, steps };
}

/** Those whose keys begin with this one, by the rest of their keys. */
export function under(values: Values, key: string): Values {
  const inside = [...values].filter(([name]) => name.startsWith(`${key}.`));
  return new Map(inside.map(([name, value]) => [name.slice(key.length + 1), value]));
}

/** Maps, lists of maps, plain and quoted words, and blocks after `|`. Throws for any other line. */
function readValues(text: string): Values {
  const values = new Map<string, string>();
  const open: { readonly indent: number; readonly name: string }[] = [];
  const counts = new Map<string, number>();
  let block: { readonly key: string; readonly indent: number } | undefined;
  for (const line of text.split('\n')) {
    const indent = line.search(/\S/);
    if (block !== undefined && (indent < 0 || indent > block.indent)) {
      values.set(block.key, `${values.get(block.key)}${line.trim()}\n`);
      continue;
    }
    block = undefined;
    if (indent < 0 || line.trim().startsWith('#')) continue;
    const [, dash, name, value] = /^ *(- )?([\w-]+):(?: (.*))?$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not read: ${line}`);
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const parent = open.map((one) => one.name).join('.');
    if (dash !== undefined) {
      const index = counts.get(parent) ?? 0;
      counts.set(parent, index + 1);
      open.push({ indent, name: `${index}` });
    }
    open.push({ indent: indent + (dash?.length ?? 0), name });
    const key = open.map((one) => one.name).join('.');
    if (value === undefined) continue;
    values.set(key, value === '|' ? '' : value.replace(/^'(.*)'$/, '$1'));
    if (value === '|') block = { key, indent };
  }
  return values;
}

/**
 * Runs a step that has a script. `expressions` says what stands for each `${{ … }}` in its environment; `env` is the job's.
 * RUNNER_TEMP must be in it.
 */
export async function runStep(
  { path }: ActionFile,
  step: Step,
  expressions: Values,
  env: Readonly<Record<string, string>>,
): Promise<StepRun> {
  const temporary = env.RUNNER_TEMP ?? '';
  const files = {
    script: join(temporary, 'step.sh'),
    output: join(temporary, 'output'),
    summary: join(temporary, 'sum'),
  };
  await writeFile(files.script, step.values.get('run') ?? '');
  await writeFile(files.output, '');
  await writeFile(files.summary, '');
  const own = [...under(step.values, 'env')].map(([name, value]) => [name, evaluate(value, expressions)] as const);
  const search = watchRun({ env: { ...env, ...Object.fromEntries(own) } });
  // As the runner starts what says `shell: bash`.
  const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', files.script], {
    env: {
      PATH: pathWithSqlite(),
      HOME: process.env.HOME,
      ...env,
      ...Object.fromEntries(own),
      GITHUB_ACTION_PATH: dirname(path),
      GITHUB_OUTPUT: files.output,
      GITHUB_STEP_SUMMARY: files.summary,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const [code] = await once(child, 'close');
  await search({ 'the log': log });
  const lines = (await readFile(files.output, 'utf8')).split('\n').filter((line) => line !== '');
  const outputs = new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
  return { code: code as number | null, log, outputs, summary: await readFile(files.summary, 'utf8') };
}

function evaluate(value: string, expressions: Values): string {
  return value.replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
    const found = expressions.get(expression);
    if (found === undefined) throw new Error(`no value is known for ${expression}`);
    return found;
  });
}
