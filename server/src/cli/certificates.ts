import { X509Certificate } from 'node:crypto';
import type { Command } from 'commander';
import { type DataOptions, readConfig } from '../config.ts';
import { ServerError } from '../errors.ts';
import { RSA_BITS } from '../keys/pkcs11.ts';
import { isDisabled } from '../records/rows.ts';
import { importCertificate, makeCertificate, requestCertificate } from '../setup/certificates.ts';
import { dataFolder } from '../setup/data-folder.ts';
import { makeData } from '../setup/make-data.ts';
import type { Surroundings } from '../start.ts';
import { dataCommand, listCommand, operationOf, withData, withStore } from './data.ts';
import { checked, chosen, readDuration, readName } from './values.ts';

interface KeyOptions extends DataOptions {
  readonly number: string;
  readonly bits: string;
  readonly commonName: string;
  readonly organization?: string;
}

export function addCertificateCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce } = surroundings;
  const certificate = program.command('certificate').description("the server's code-signing certificates");

  dataCommand(
    certificate,
    'add',
    "creates a key and a certificate of the server's authority; prints the path of the chain",
  )
    .requiredOption('--number <n>', 'certificate number that clients set with --code')
    .option('--bits <n>', 'size of the RSA key in bits: 2048, 3072 or 4096', '3072')
    .option('--common-name <name>', 'name of the signer in the certificate', 'Code Signing')
    .action(async (options: KeyOptions, command: Command) => {
      const wanted = { ...readKey(options), commonName: readName('--common-name', options.commonName) };
      const operation = operationOf(command, surroundings);
      await makeData(readConfig(options, environment), environment, operation, 'use');
      announce(await withData(options, surroundings, (data) => makeCertificate(data, wanted, operation)));
    });

  dataCommand(certificate, 'request', 'creates a key if necessary, and prints a certificate request (PKCS#10) for a CA')
    .requiredOption(
      '--number <n>',
      'certificate number for --code; if the number already exists, its certificate is renewed',
    )
    .option('--bits <n>', 'size of the RSA key in bits: 2048, 3072 or 4096', '3072')
    .option('--common-name <name>', 'common name in the certificate request', 'Code Signing')
    .option('--organization <name>', 'organization in the certificate request')
    .action(async (options: KeyOptions, command: Command) => {
      const { organization } = options;
      const subject = {
        commonName: readName('--common-name', options.commonName),
        ...(organization !== undefined && { organization: readName('--organization', organization) }),
      };
      const wanted = { ...readKey(options), subject };
      const operation = operationOf(command, surroundings);
      await makeData(readConfig(options, environment), environment, operation, 'use');
      announce(
        (await withData(options, surroundings, (data) => requestCertificate(data, wanted, operation))).trimEnd(),
      );
    });

  dataCommand(
    certificate,
    'import',
    "stores the CA's certificate for a certificate request; prints the path of the chain",
  )
    .requiredOption('--number <n>', 'certificate number in the certificate request')
    .requiredOption('--chain <pem>', 'PEM file with the certificate and the certificates of its issuers')
    .action(async (options: DataOptions & { number: string; chain: string }, command: Command) => {
      const { number, chain } = options;
      const operation = operationOf(command, surroundings);
      announce(await withData(options, surroundings, (data) => importCertificate(data, number, chain, operation)));
    });

  const listed = 'lists the number, key size, state, expiry date and chain file of each certificate';
  listCommand(certificate, listed, surroundings, async (store, options) => {
    const folder = dataFolder(readConfig(options, environment).dataRoot);
    return (await store.certificates.list()).map((each) => {
      const { number, chain, notBefore, notAfter, enabledUntil = null } = each;
      const bits = new X509Certificate(chain).publicKey.asymmetricKeyDetails?.modulusLength;
      const validity = now() < notBefore ? 'not valid yet' : now() > notAfter ? 'expired' : 'valid';
      const state = isDisabled(each, now()) ? 'disabled' : validity;
      const until = { enabledUntil, notBefore, notAfter };
      return { number, key: `RSA ${bits}`, state, ...until, chainFile: folder.certificate(number) };
    });
  });

  const disable = dataCommand(certificate, 'disable <number>', 'rejects all further calls that use the certificate');
  const enable = dataCommand(certificate, 'enable <number>', 'enables a disabled certificate').option(
    '--for <duration>',
    'duration, such as 30m, 2h or 7d (default: until the certificate is disabled again)',
  );
  for (const each of [disable, enable]) {
    each.action(async (number: string, options: DataOptions & { for?: string }, command: Command) => {
      const until = options.for === undefined ? undefined : readDuration('--for', options.for, now());
      const operation = { ...operationOf(command, surroundings), target: number };
      await withStore(options, surroundings, (store) =>
        store.change(operation, async ({ certificates }) => {
          const known = await certificates.disable(number, command === disable, until);
          if (!known) throw new ServerError('certificate-not-found', { number });
        }),
      );
    });
  }
}

/** Restricts the characters of the certificate number, because it is part of a file name. */
function readKey({ number, bits }: KeyOptions) {
  const expected = 'a name of lower-case letters, digits, dots, underscores and hyphens';
  return {
    number: checked('--number', number, /^[a-z0-9][a-z0-9._-]{0,63}$/, expected),
    bits: chosen('--bits', bits, RSA_BITS),
  };
}
