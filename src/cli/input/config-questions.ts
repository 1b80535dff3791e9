/** The questions of `init`: what was said is not asked, and an answer that cannot be right is told so at once. */

import { join } from 'node:path';
import { readChain } from '../../app/compose-config.ts';
import { dateOf } from '../../certificates/judge-leaf.ts';
import type { SigningChain } from '../../certificates/signing-chain.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import { homeFolder } from '../../options/home-folder.ts';
import type { Io } from '../io.ts';
import type { Ask } from './ask.ts';
import {
  type Answers,
  checkAddress,
  checkAuthority,
  checkCaFile,
  checkCode,
  type Suggested,
  type Suggestion,
} from './config-checks.ts';

const NONE = 'none';

/** In the order in which whoever is asked will find them in the letter of the service. */
export async function askForAll(suggested: Suggested, ask: Ask, io: Io): Promise<Answers> {
  const caFile = await checkCaFile(suggested.caFile, io.env);
  const question = <Answer>(text: string, suggestion: Suggestion, check: Check<Answer>): Promise<Answer> =>
    answerTo({ text, suggestion, check }, ask, io);
  const baseUrl = await question('Address of the signing service', suggested.baseUrl, async ([address = '']) =>
    checkAddress(address, 'this address'),
  );
  const code = await question('Number of the certificate there', suggested.code, async ([number = '']) =>
    checkCode(number, 'this number'),
  );
  const { paths, chain } = await askForCertificate(suggested.certificate, ask, io);
  const timestampUrl = await question(
    `Time stamp authorities, blanks between them (${NONE}: no timestamps)`,
    suggested.timestampUrl.values.length > 0 || suggested.timestampUrl.isSaid
      ? suggested.timestampUrl
      : { values: [NONE], isSaid: false },
    async (answers) =>
      answers
        .flatMap((answer) => answer.split(/\s+/))
        .filter(isUrl)
        .map((url) => checkAuthority(url, 'this authority')),
  );
  return { baseUrl, code, certificate: paths, timestampUrl, caFile, chain };
}

type Check<Answer> = (values: readonly string[]) => Promise<Answer>;

interface Question<Answer> {
  readonly text: string;
  readonly suggestion: Suggestion;
  /** Its CodesignErrors are told, and the question asked again; of what was said as an option they end the command. */
  readonly check: Check<Answer>;
}

async function answerTo<Answer>(
  { text, suggestion: { values, isSaid }, check }: Question<Answer>,
  ask: Ask,
  io: Io,
): Promise<Answer> {
  if (isSaid) return check(values);
  const shown = values.length > 0 ? values.join(' ') : undefined;
  for (;;) {
    const answer = await ask.text(text, { otherwise: shown, accept: (typed) => typed });
    try {
      return await check(answer === shown ? values : [answer]);
    } catch (thrown) {
      if (!(thrown instanceof CodesignError)) throw thrown;
      const { message, hint } = thrown;
      io.stderr.write(`  ${printable(message, 4096)}\n${hint === undefined ? '' : `  ${printable(hint, 4096)}\n`}`);
    }
  }
}

interface CertificateAnswer {
  readonly paths: readonly string[];
  readonly chain: SigningChain;
}

/** Issuers are often in a file of their own, and a signature without them is trusted by few. */
async function askForCertificate(suggestion: Suggestion, ask: Ask, io: Io): Promise<CertificateAnswer> {
  const readAll = async (paths: readonly string[]): Promise<CertificateAnswer> => ({
    paths,
    chain: await readChain(paths, io.env),
  });
  const text = 'File with the signing certificate and its issuers';
  const check: Check<CertificateAnswer> = (answers) => readAll(answers.map(typedPath));
  const answer = await answerTo({ text, suggestion, check }, ask, io);
  const { leaf, notAfter, certificates } = answer.chain;
  io.stderr.write(`  ${printable(leaf.name)}, until ${dateOf(notAfter)}\n`);
  if (suggestion.isSaid || certificates.length > 1) return answer;
  return answerTo(
    {
      text: `File with its issuers (${NONE}: the service's users have them)`,
      suggestion: { values: [NONE], isSaid: false },
      check: ([other = NONE]) =>
        other === NONE ? readAll(answer.paths) : readAll([...answer.paths, typedPath(other)]),
    },
    ask,
    io,
  );
}

/** No shell has been at it: quotes are what a file dragged into the terminal comes with, and ~ is the home folder. */
function typedPath(text: string): string {
  const path = text.replace(/^(["'])(.*)\1$/, '$2');
  const home = homeFolder();
  return home !== undefined && /^~[/\\]/.test(path) ? join(home, path.slice(2)) : path;
}

function isUrl(word: string): boolean {
  return word !== '' && word !== NONE;
}
