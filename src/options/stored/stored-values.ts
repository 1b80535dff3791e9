import { dirname, isAbsolute, join } from 'node:path';
import { settingsErrors } from '../errors.ts';
import { didYouMean } from '../suggest.ts';
import { definitionOf, type SettingKey } from '../table.ts';
import { readSwitch } from '../values.ts';
import { isObject, type JsonObject, shownKey } from './json-file.ts';

export const MOST_VALUES = 32;
/** Parts of keys that suggest a secret. */
const SECRET = /secret|passw|passphrase|accesskey|credential|privatekey|apikey|token/;

type Value = string | number | boolean | readonly string[] | JsonObject;

/** Users may type a key like an option (`timestamp-url`). */
export function keyAsWritten(key: string): string {
  return key.replace(/(?<=[a-z])-([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/** For a secret, the error says where secrets are stored. */
export function unknownKey(key: string, known: readonly string[], where: string) {
  const shown = shownKey(key);
  if (SECRET.test(key.toLowerCase().replace(/[^a-z]/g, ''))) {
    return settingsErrors('setting-is-secret', { key: shown, where });
  }
  const suggestion = didYouMean(key, known);
  return settingsErrors('setting-unknown', { key: shown, where, suggestion, known: known.join(', ') });
}

export function textOf(value: unknown, key: SettingKey, path: string, name: string = key): readonly string[] {
  const { form, isPath } = formOf(key);
  const fits = {
    text: () => typeof value === 'string',
    number: () => typeof value === 'number',
    switch: () => typeof value === 'boolean',
    code: () => typeof value === 'string' || (Number.isSafeInteger(value) && Number(value) >= 0),
    list: () => typeof value === 'string' || isListOfText(value),
    members: () => isObject(value) && Object.values(value).every(isMemberValue),
  }[form]();
  if (!fits) throw damaged(path, `"${name}" is not ${EXPECTED[form]}`);
  if (isObject(value)) {
    return Object.entries(value).map(([member, text]) => {
      checkText(`${member}${text}`, name, path);
      return `${member}=${text}`;
    });
  }
  const texts = Array.isArray(value) ? value.map(String) : [String(value)];
  for (const text of texts) checkText(text, name, path);
  return isPath ? texts.map((text) => besideFile(text, path)) : texts;
}

/** Rejects text that no system call, request or signature would accept. */
function checkText(text: string, name: string, path: string): void {
  if (text.includes('\0')) throw damaged(path, `"${name}" contains a NUL character`);
  if (/\p{Cs}/u.test(text)) throw damaged(path, `"${name}" contains half of a surrogate pair`);
  if (text.length > LONGEST_TEXT) throw damaged(path, `"${name}" is longer than ${LONGEST_TEXT} characters`);
}

/** Length of the longest path that Linux accepts. */
const LONGEST_TEXT = 4096;

export function storedForm(texts: readonly string[], key: SettingKey): Value {
  const { form } = formOf(key);
  if (form === 'list') return texts;
  if (form === 'members') return Object.fromEntries(texts.map(splitMember));
  const [text = ''] = texts;
  if (form === 'switch') return readSwitch({ value: text, name: key });
  return form === 'number' ? Number(text) : text;
}

function formOf(key: SettingKey): { readonly form: keyof typeof EXPECTED; readonly isPath: boolean } {
  const { kind, isList } = definitionOf(key);
  const form = kind?.form ?? 'text';
  return { form: isList && form !== 'members' ? 'list' : form, isPath: kind?.isPath ?? false };
}

function isMemberValue(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function splitMember(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

export function damaged(path: string, problem: string) {
  return settingsErrors('settings-file-damaged', { path, problem });
}

const EXPECTED = {
  text: 'text in quotes',
  number: 'a number without quotes',
  switch: 'true or false without quotes',
  code: 'a number',
  list: `text in quotes, or a list of at most ${MOST_VALUES} of them`,
  members: 'an object of text in quotes and whole numbers',
} as const;

function isListOfText(value: unknown): boolean {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_VALUES;
  return isList && value.every((one) => typeof one === 'string');
}

/** An empty path is rejected when it is used. */
function besideFile(text: string, path: string): string {
  return text === '' || isAbsolute(text) ? text : join(dirname(path), text);
}
