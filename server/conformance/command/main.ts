import { printable } from '../../../src/errors/printable.ts';
import { type Deployment, openDeployment } from '../deployment.ts';
import { NoAnswer } from '../http.ts';
import { runRules } from '../run-rules.ts';
import { CountFailed } from './count-command.ts';
import { type Command, type Environment, HELP, readCommand, UsageError } from './options.ts';
import { endText, listJson, listText, reportJson, resultText, summaryOf } from './print.ts';

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const EXIT = { kept: 0, broken: 1, usage: 2, network: 3, http: 4, business: 5, local: 6 } as const;

export async function main(args: readonly string[], env: Environment, { out, err }: Output): Promise<number> {
  try {
    const command = readCommand(args, env);
    if (command.kind === 'help') out(HELP);
    else if (command.kind === 'list') out(command.json ? json(listJson(command.rules)) : listText(command.rules));
    else return await run(command, { out, err });
    return EXIT.kept;
  } catch (error) {
    if (error instanceof UsageError) {
      err(`${printable(error.message)}\n`);
      return EXIT.usage;
    }
    if (error instanceof NoAnswer) {
      err(`the service does not answer: ${printable(error.message)}\n`);
      return EXIT.network;
    }
    err(`${error instanceof CountFailed ? printable(error.message) : printable(String(error), 2000)}\n`);
    return EXIT.local;
  }
}

async function run(command: Extract<Command, { kind: 'run' }>, { out, err }: Output): Promise<number> {
  const { rules, signatures, most, json: asJson, deployment: options } = command;
  const say = asJson ? err : out;
  const deployment = openDeployment(options);
  try {
    say(`${rules.length} rules for ${options.baseUrls.map(({ href }) => href).join(', ')}\n`);
    say(`${signatures ? `maximum number of signatures: ${most}` : 'uses no signatures'}\n\n`);
    const refused = await credentialsRefused(deployment);
    if (refused !== undefined) {
      err(`the service rejects the credentials: HTTP ${refused.status}, code ${refused.code}\n`);
      return refused.ok ? EXIT.business : EXIT.http;
    }
    const results = await runRules(deployment, rules, signatures, (each) => {
      if (!asJson) out(resultText(each));
    });
    const given = deployment.spent();
    if (asJson) out(json(reportJson(options.baseUrls, results, most, given)));
    else out(endText(results, given));
    const exceeded = given > most;
    if (exceeded)
      err(`the service signed requests that it must reject (signatures made: ${given}, maximum: ${most})\n`);
    return summaryOf(results).broken > 0 || exceeded ? EXIT.broken : EXIT.kept;
  } finally {
    deployment.close();
  }
}

/** Checked first, because no rule can be checked with wrong credentials. */
async function credentialsRefused(deployment: Deployment) {
  const answer = await deployment.sign(deployment.refusedBody());
  return answer.code === 401 || answer.status === 401 ? answer : undefined;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
