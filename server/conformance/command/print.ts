import { printable } from '../../../src/errors/printable.ts';
import type { Exchange } from '../deployment.ts';
import type { Rule, Verdict } from '../rule.ts';
import type { RuleResult } from '../run-rules.ts';
import { couldSign } from '../suite.ts';

const WORDS: Readonly<Record<Verdict['kind'], string>> = {
  kept: 'kept',
  choice: 'choice',
  broken: 'BROKEN',
  'not-asked': 'not asked',
};

/** The output of `--list`. */
export function listText(rules: readonly Rule[]): string {
  return rules.map((rule) => `${rule.section}\t${mostOf(rule)}\t${rule.title}\n`).join('');
}

/** Returns the maximum number of signatures for the rule, or "shared" if it uses only a shared signature. */
export function mostOf(rule: Rule): string {
  return rule.spends === 0 && couldSign(rule) ? 'shared' : `${rule.spends}${rule.shares ? ' + shared' : ''}`;
}

export function listJson(rules: readonly Rule[]) {
  return rules.map(({ section, title, spends, shares = [], needs = null }) => ({
    section,
    title,
    spends,
    shares,
    needs,
  }));
}

export function resultText({ rule, verdict }: RuleResult): string {
  const line = `${WORDS[verdict.kind].padEnd(10)}${rule.section.padEnd(12)}${rule.title}`;
  return `${[line, ...detailsOf(verdict).map((detail) => `          ${detail}`)].join('\n')}\n`;
}

function detailsOf(verdict: Verdict): readonly string[] {
  if (verdict.kind === 'kept') return [];
  if (verdict.kind === 'choice') return [`→ ${shown(verdict.choice)}`];
  if (verdict.kind === 'not-asked') return [`(${shown(verdict.why)})`];
  return [shown(verdict.why), ...verdict.exchanges.flatMap(exchangeLines)];
}

function exchangeLines({ request, answer }: Exchange): readonly string[] {
  const marked = (mark: string, text: string) => text.split('\n').map((line) => `${mark} ${shown(line)}`.trimEnd());
  return [...marked('>', request), ...marked('<', answer)];
}

function shown(text: string): string {
  return printable(text, 1000);
}

export function summaryOf(results: readonly RuleResult[]) {
  const having = (kind: Verdict['kind']) => results.filter(({ verdict }) => verdict.kind === kind).length;
  return { kept: having('kept'), broken: having('broken'), choices: having('choice'), notAsked: having('not-asked') };
}

/** Prints the choices and the summary after the verdicts. */
export function endText(results: readonly RuleResult[], signatures: number): string {
  const choices = results.flatMap(({ rule: { section, title }, verdict }) =>
    verdict.kind === 'choice' ? [`  ${section}, ${title}: ${shown(verdict.choice)}\n`] : [],
  );
  const { kept, broken, choices: chosen, notAsked } = summaryOf(results);
  const counts = `${kept} kept, ${broken} broken, ${chosen} choices, ${notAsked} not asked`;
  return [
    ...(choices.length > 0 ? ['\nChoices of this deployment that the document leaves open:\n', ...choices] : []),
    `\n${counts}; signatures made: ${signatures}\n`,
  ].join('');
}

export function reportJson(baseUrls: readonly URL[], results: readonly RuleResult[], most: number, signatures: number) {
  return {
    baseUrls: baseUrls.map(({ href }) => href),
    rules: results.map(({ rule: { section, title, spends }, verdict: { kind, ...more } }) => ({
      ...{ section, title, spends, verdict: kind },
      ...more,
    })),
    choices: results.flatMap(({ rule: { section, title }, verdict }) =>
      verdict.kind === 'choice' ? [{ section, title, choice: verdict.choice }] : [],
    ),
    summary: { ...summaryOf(results), signatures, signaturesAtMost: most },
  };
}
