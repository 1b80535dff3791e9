/** The administration's part of the command line. */

import { type Command, Option } from 'commander';
import {
  certificateAdd,
  certificateImport,
  certificateList,
  certificateRequest,
  certificateSwitch,
} from './certificates.ts';
import {
  type ClientAddOptions,
  type ClientChangeOptions,
  clientAdd,
  clientChange,
  clientList,
  clientRotate,
  clientSwitch,
  quotaList,
  quotaSet,
} from './clients.ts';
import { type DataOptions, dataConfig } from './config.ts';
import type { ListOptions } from './list.ts';
import {
  EXPORT_FORMATS,
  exportRecords,
  type RecordsOptions,
  recordsList,
  recordsPrune,
  recordsShow,
} from './records.ts';
import { type AdminSurroundings, init } from './surroundings.ts';
import { type ViewerAddOptions, viewerAdd, viewerList, viewerRemove } from './viewers.ts';

interface CertificateOptions extends DataOptions {
  readonly number: string;
  readonly bits: string;
  readonly commonName: string;
}

/** @param withDataOptions adds the options that every command has */
export function addAdminCommands(
  program: Command,
  withDataOptions: (command: Command) => Command,
  surroundings: AdminSurroundings,
): void {
  const { environment, announce } = surroundings;
  const configOf = (options: DataOptions) => dataConfig(options, environment);

  withDataOptions(program.command('init'))
    .description(
      'makes token, authority and first certificate without starting, where they are missing; prints their folder',
    )
    .action(async (options: DataOptions) => announce(await init(configOf(options), surroundings)));

  const certificate = program.command('certificate').description('the code-signing certificates of the server');
  withDataOptions(certificate.command('add'))
    .description(
      'makes a key in the HSM and a certificate for it, and prints the file of its chain; a running server knows it at once',
    )
    .requiredOption('--number <n>', 'the number that clients give as --code')
    .option('--bits <n>', 'RSA key size: 2048, 3072 or 4096', '3072')
    .option('--common-name <name>', "the signer's name in the certificate", 'Code Signing')
    .action(async (options: CertificateOptions) =>
      announce(await certificateAdd(configOf(options), options, surroundings)),
    );
  withDataOptions(certificate.command('request'))
    .description('makes a key in the HSM and prints a request (PKCS#10) for a CA to certify, as often as it is asked')
    .requiredOption(
      '--number <n>',
      'the number that clients will give as --code, or one whose certificate is to be renewed',
    )
    .option('--bits <n>', 'RSA key size: 2048, 3072 or 4096', '3072')
    .option('--common-name <name>', 'the name to ask for', 'Code Signing')
    .option('--organization <name>', 'the organization to ask for')
    .action(async (options: CertificateOptions & { organization?: string }) =>
      announce((await certificateRequest(configOf(options), options, surroundings)).trimEnd()),
    );
  withDataOptions(certificate.command('import'))
    .description('takes the certificate that a CA made for such a request, and prints the file of its chain')
    .requiredOption('--number <n>', 'the number of the request')
    .requiredOption('--chain <pem>', 'the certificate and those of its issuers')
    .action(async (options: DataOptions & { number: string; chain: string }) =>
      announce(await certificateImport(configOf(options), options, surroundings)),
    );
  withList(withDataOptions(certificate.command('list')))
    .description('lists number, key size, state, end of validity and chain file of each certificate')
    .action((options: DataOptions & ListOptions) => certificateList(configOf(options), options, surroundings));
  for (const [name, disabled] of SWITCHES) {
    withDataOptions(certificate.command(`${name} <number>`))
      .description(disabled ? 'rejects calls with a certificate from the next one on' : 'undoes certificate disable')
      .action((number: string, options: DataOptions) => certificateSwitch(configOf(options), number, disabled));
  }

  const client = program.command('client').description('who may sign, with which certificates, and how often');
  withDataOptions(client.command('add'))
    .description(
      'adds a client, shows its secret this one time, and prints its access key; a running server knows it at once',
    )
    .option('--name <name>', 'what people call it')
    .option('--certificate <number>', 'a certificate it may use; repeatable (default: every one)', collect)
    .option('--algorithm <name>', 'a digest algorithm it may use; repeatable (default: every one)', collect)
    .option('--quota <n>', 'the most signatures ever, or none', 'none')
    .option('--expires <time>', 'from then on it is refused, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--client-env <path>', 'writes access key and secret to this new file instead of to the terminal')
    .action((options: DataOptions & ClientAddOptions) => clientAdd(configOf(options), options, surroundings));
  withList(withDataOptions(client.command('list')))
    .description('lists access key, name, state, expiry, signatures, quota, and what it may use')
    .action((options: DataOptions & ListOptions) => clientList(configOf(options), options, surroundings));
  withDataOptions(client.command('change <access-key>'))
    .description('changes what is given, and leaves the rest; a running server knows it at its next call')
    .option('--name <name>', "what people call it; '' for no name")
    .option('--certificate <number>', 'the only certificate it may use; repeatable', collect)
    .addOption(new Option('--all-certificates', 'it may use every certificate').conflicts('certificate'))
    .option('--algorithm <name>', 'the only digest algorithm it may use; repeatable', collect)
    .addOption(new Option('--all-algorithms', 'it may use every digest algorithm').conflicts('algorithm'))
    .option('--expires <time>', 'time of its expiry, as in 2030-12-31 or 2030-12-31T18:00:00Z, or none')
    .action((accessKey: string, options: DataOptions & ClientChangeOptions) =>
      clientChange(configOf(options), accessKey, options),
    );
  for (const [name, disabled] of SWITCHES) {
    withDataOptions(client.command(`${name} <access-key>`))
      .description(disabled ? 'refuses a client from its next call on' : 'undoes client disable')
      .action((accessKey: string, options: DataOptions) => clientSwitch(configOf(options), accessKey, disabled));
  }
  withDataOptions(client.command('rotate <access-key>'))
    .description('makes another secret and shows it this one time; the one before is refused from then on')
    .option('--client-env <path>', 'writes access key and secret to this new file instead of to the terminal')
    .action((accessKey: string, options: DataOptions & ClientAddOptions) =>
      clientRotate(configOf(options), accessKey, options, surroundings),
    );

  const viewer = program.command('viewer').description('who may look at the page at /, and sign nothing');
  withDataOptions(viewer.command('add'))
    .description(
      'adds a viewer, shows its secret this one time, and prints its access key; a running server knows it at once',
    )
    .option('--name <name>', 'what people call it')
    .option('--expires <time>', 'from then on it is refused, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--viewer-env <path>', 'writes access key and secret to this new file instead of to the terminal')
    .action((options: DataOptions & ViewerAddOptions) => viewerAdd(configOf(options), options, surroundings));
  withList(withDataOptions(viewer.command('list')))
    .description('lists access key, name, state, and expiry')
    .action((options: DataOptions & ListOptions) => viewerList(configOf(options), options, surroundings));
  withDataOptions(viewer.command('remove <access-key>'))
    .description('refuses a viewer from its next call on, for ever')
    .action((accessKey: string, options: DataOptions) => viewerRemove(configOf(options), accessKey));

  const quota = program.command('quota').description('how many signatures clients have left');
  withList(withDataOptions(quota.command('list', { isDefault: true })))
    .description('lists access key, name, signatures, places held by calls under way, quota, and what is left')
    .action((options: DataOptions & ListOptions) => quotaList(configOf(options), options, surroundings));
  withDataOptions(quota.command('set <access-key> <n>'))
    .description('sets the most signatures ever, those of before included, or none')
    .action((accessKey: string, value: string, options: DataOptions) => quotaSet(configOf(options), accessKey, value));

  const records = program.command('records').description('what was signed for whom');
  withList(withRecordOptions(withDataOptions(records.command('list', { isDefault: true }))))
    .description('lists id, time, client, certificate, algorithm, whether it counts, the report, and the file')
    .option('--limit <n>', 'the latest so many', '50')
    .action((options: DataOptions & RecordsOptions & ListOptions & { limit: string }) =>
      recordsList(configOf(options), options, surroundings),
    );
  withDataOptions(records.command('show <id>'))
    .description('prints one record as JSON, with the signature that was given')
    .action((id: string, options: DataOptions) => recordsShow(configOf(options), id, surroundings));

  withDataOptions(records.command('prune'))
    .description('removes the records of signatures made before a time, and prints how many; counts stay')
    .requiredOption('--before <time>', 'a time in the past, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .action((options: DataOptions & { before: string }) => recordsPrune(configOf(options), options, surroundings));

  withRecordOptions(withDataOptions(program.command('export')))
    .description('prints every record, without signatures')
    .addOption(new Option('--format <format>', 'how').choices(EXPORT_FORMATS).default('csv'))
    .action((options: DataOptions & RecordsOptions & { format: (typeof EXPORT_FORMATS)[number] }) =>
      exportRecords(configOf(options), options, surroundings),
    );
}

const SWITCHES = [
  ['disable', true],
  ['enable', false],
] as const;

function withList(command: Command): Command {
  return command.option('--json', 'a JSON array instead of a table');
}

function withRecordOptions(command: Command): Command {
  return command
    .option('--client <access-key>', 'only of this client')
    .option('--certificate <number>', 'only with this certificate')
    .option('--since <time>', 'only from then on, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--until <time>', 'only before then');
}

/** Gathers the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
