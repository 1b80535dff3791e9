import { composeReading } from '../../app/compose-local.ts';
import { pem } from '../../crypto/pem.ts';
import { plural } from '../../errors/plural.ts';
import { printable } from '../../errors/printable.ts';
import { existingForm } from '../../files/file-names.ts';
import { formatErrors } from '../../format/errors.ts';
import { withNested } from '../../format/signature.ts';
import type { OptionsOf } from '../../options/table.ts';
import { inspectFile } from '../../verifying/inspect-file.ts';
import { readFile } from '../../verifying/verify-file.ts';
import { cliErrors, cliWarnings } from '../errors.ts';
import { reportReads, withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { failOne } from '../output/fail.ts';
import { certificatesPem, inspectJson, inspectText } from '../output/inspect.ts';
import { jsonText } from '../output/json.ts';
import { Lines, shown } from '../output/lines.ts';
import { writeOutput } from '../output/write-output.ts';

export function inspect(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  return show(existingForm(path), options, io).catch((thrown) => failOne(path, thrown, options, io));
}

async function show(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  const file = await withProgress({ doing: 'reading', done: 'read' }, options, io, (progress) =>
    inspectFile(path, { ...composeReading(), onRead: reportReads(progress) }),
  );
  if (options.certificates) {
    const text = certificatesPem(file);
    if (text === '') new Lines(io, options).warning(cliWarnings('no-certificate-found', { path }));
    io.stdout.write(text);
  } else if (options.json) {
    io.stdout.write(jsonText(inspectJson(file)));
  } else if (!options.quiet) {
    io.stdout.write(inspectText(file));
  }
  return 0;
}

export function extract(path: string, options: OptionsOf<'extract'>, io: Io): Promise<number> {
  return writeSignature(existingForm(path), options, io).catch((thrown) => failOne(path, thrown, options, io));
}

async function writeSignature(path: string, options: OptionsOf<'extract'>, io: Io): Promise<number> {
  const { output } = options;
  const index = options.index === undefined ? undefined : numberOf(options.index);
  // Control characters could change the state of a terminal.
  if (output === undefined && !options.pem && 'isTTY' in io.stdout && io.stdout.isTTY) {
    throw cliErrors('binary-to-terminal');
  }
  const { chosen, count } = await choose(path, index ?? 1);
  const content = options.pem ? Buffer.from(pem('PKCS7', chosen.envelope.bytes)) : chosen.envelope.bytes;
  const lines = new Lines(io, options);
  if (output === undefined) {
    io.stdout.write(content);
  } else {
    await writeOutput(output, content, { input: path });
    const what = `signature of "${printable(chosen.signer.name)}", ${plural(content.length, 'byte')}`;
    lines.result(`extracted  ${shown(output)}  (${what})`);
  }
  if (index === undefined && count > 1) {
    lines.warning(cliWarnings('several-signatures', { path, count: plural(count, 'signature') }));
  }
  return 0;
}

async function choose(path: string, index: number) {
  await using file = await readFile(path, composeReading());
  const signatures = withNested(await file.signable.signatures());
  const chosen = signatures[index - 1];
  if (signatures.length === 0) throw formatErrors('not-signed');
  if (chosen === undefined)
    throw cliErrors('index-out-of-range', { index, count: plural(signatures.length, 'signature') });
  if (chosen.envelope.bytes.length === 0) throw cliErrors('nothing-to-extract', { index });
  return { chosen, count: signatures.length };
}

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw cliErrors('index-invalid');
  return Number(text);
}
