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

/** Returns a function that collects the values of an option that may be repeated, of some. */
export function gatheredChoice<Choice extends string>(choices: readonly Choice[]) {
  return (value: string, before: readonly Choice[] = []): readonly Choice[] => {
    const found = choices.find((each) => each === value);
    if (found === undefined)
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
    return [...before, found];
  };
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Returns the milliseconds of a duration such as `30d`. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdwy])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  if (ms === undefined)
    throw new InvalidArgumentError(
      'It must be a number with a unit: s, m, h, d, w or y, such as 30d.',
    );
  return Number(count) * ms;
}

/** Returns the names in a list with commas. */
export function nameList(text: string): readonly string[] {
  return text.split(',').map((name) => notEmpty(name).trim());
}

const isoInstant = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Returns an instant in epoch milliseconds. */
export function instant(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const ms = isoInstant.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(ms)) return ms;
  throw new InvalidArgumentError(
    'It must be a time such as 2026-01-31T12:00:00Z, or epoch milliseconds.',
  );
}
