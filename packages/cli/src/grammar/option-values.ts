import { laneProblem } from 'adjutant/text';
import { InvalidArgumentError } from 'commander';

const longestSessionId = 200;

export function sessionId(text: string): string {
  if (text.trim() === '' || text.length > longestSessionId || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError(
      `A session id has 1 to ${longestSessionId} characters, none of them a control character.`,
    );
  }
  return text;
}

export function appName(text: string): string {
  if (text.trim() === '' || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError(
      'The name of an app is not empty and has no control characters.',
    );
  return text;
}

export function laneName(text: string): string {
  const problem = laneProblem(text);
  if (problem !== undefined) throw new InvalidArgumentError(`It must be ${problem}.`);
  return text;
}

export function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function positiveInteger(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('It must be 1 or more.');
  return number;
}

const highestPort = 65_535;

export function portNumber(text: string): number {
  const number = wholeNumber(text);
  if (number > highestPort) throw new InvalidArgumentError(`It must be from 0 to ${highestPort}.`);
  return number;
}

/** Collects the values of an option that may be repeated. */
export function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Collects the values of an option that may be repeated, none of them empty. */
export function gatheredTexts(value: string, before: readonly string[] = []): readonly string[] {
  return gathered(notEmpty(value), before);
}
