import { ibanLengths } from './iban.ts';

/** Kinds of personal data. */
export type PersonalDataKind = 'email' | 'phone' | 'creditCard' | 'iban' | 'ssn' | 'ipAddress';

/** In the order in which they are looked for: the one with the strictest form first. */
export const personalDataKinds: readonly PersonalDataKind[] = [
  'email',
  'iban',
  'creditCard',
  'ssn',
  'ipAddress',
  'phone',
];

/** Gives the text with `replacement` in the place of what was found, and counts it. */
type Redact = (text: string, replacement: string, count: () => void) => string;

const redactions: { readonly [Kind in PersonalDataKind]: Redact } = {
  email: (text, replacement, count) =>
    text.includes('@') ? replaceAll(text, email, replacement, count) : text,
  iban: (text, replacement, count) => redactIbans(text, replacement, count),
  creditCard: (text, replacement, count) => redactCards(text, replacement, count),
  ssn: (text, replacement, count) => replaceAll(text, ssn, replacement, count),
  ipAddress: (text, replacement, count) => redactIpAddresses(text, replacement, count),
  phone: (text, replacement, count) => replaceAll(text, phone, replacement, count, isPhone),
};

const anyMark = /@|\d|::/;

/**
 * Characters of the shortest text that can have it: names of members, of which an object may have
 * many, are mostly shorter.
 */
const shortest: { readonly [Kind in PersonalDataKind]: number } = {
  email: 5,
  iban: 15,
  creditCard: 13,
  ssn: 11,
  ipAddress: 3,
  phone: 7,
};

/** Takes personal data out of a text. */
export function redactText(
  text: string,
  kinds: readonly PersonalDataKind[],
  replacement: (kind: PersonalDataKind) => string,
  count: (kind: PersonalDataKind) => void,
): string {
  // All that is looked for has a digit, an "@" or, in addresses, "::".
  if (!anyMark.test(text)) return text;
  let redacted = text;
  for (const kind of kinds) {
    if (text.length >= shortest[kind])
      redacted = redactions[kind](redacted, replacement(kind), () => count(kind));
  }
  return redacted;
}

function replaceAll(
  text: string,
  pattern: RegExp,
  replacement: string,
  count: () => void,
  isRight: (found: string) => boolean = () => true,
): string {
  return text.replace(pattern, (found) => {
    if (!isRight(found)) return found;
    count();
    return replacement;
  });
}

// All repeats are bounded, so that no text takes longer than its length asks for.
const email = /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/gu;
const ssn = /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\d-])/g;
const phone = /(?<![\p{L}\p{N}.])(?:\+\s?|\(\+?)?\d[\d ()./\u00A0-]{5,22}\d(?![\p{L}\p{N}])/gu;
const northAmerican = /^(?:1[ .-]?)?\(?[2-9]\d\d\)?[ .-]?[2-9]\d\d[ .-]\d{4}$/;
const national = /^\(?0[1-9]\d{0,4}\)?[ /.-]\d[\d ./-]{4,14}\d$/;

/**
 * International with `+` or `00`, or national in a form that dates, sums and numbers of orders do
 * not have.
 */
function isPhone(found: string): boolean {
  const digits = found.replace(/\D/g, '');
  if (/^\(?\+/.test(found)) return digits.length >= 8 && digits.length <= 15;
  if (digits.startsWith('00')) return digits.length >= 10 && digits.length <= 17;
  return (
    northAmerican.test(found) || (national.test(found) && digits.length >= 8 && digits.length <= 13)
  );
}

const cardRun = /(?<![\p{L}\p{N}])\d(?:[ -]?\d){12,}(?![\p{L}\p{N}])/gu;
const shortestCard = 13;

function redactCards(text: string, replacement: string, count: () => void): string {
  return text.replace(cardRun, (run) => redactCardsInRun(run, replacement, count));
}

/**
 * Card numbers begin and end where a group of digits does. A run may be as long as the whole text,
 * so every group is looked at with a number of steps that does not depend on it.
 */
function redactCardsInRun(run: string, replacement: string, count: () => void): string {
  const { digits, places, isEnd } = digitsOf(run);
  let kept = '';
  let done = 0;
  for (let first = 0; first + shortestCard <= digits.length; first++) {
    const end = first === 0 || isEnd[first - 1] === 1 ? endOfCard(digits, isEnd, first) : undefined;
    if (end === undefined) continue;
    kept += run.slice(done, places[first]) + replacement;
    done = (places[end - 1] ?? 0) + 1;
    count();
    first = end - 1;
  }
  return kept + run.slice(done);
}

/**
 * The digits of a run without what stands between them, the place of each, and which of them end a
 * group.
 */
function digitsOf(run: string): {
  readonly digits: string;
  readonly places: Uint32Array;
  readonly isEnd: Uint8Array;
} {
  const digits = run.replace(/[ -]/g, '');
  const places = new Uint32Array(digits.length);
  const isEnd = new Uint8Array(digits.length);
  let seen = 0;
  for (let i = 0; i < run.length; i++) {
    const code = run.charCodeAt(i);
    if (code >= 48 && code <= 57) places[seen++] = i;
    else isEnd[seen - 1] = 1;
  }
  isEnd[digits.length - 1] = 1;
  return { digits, places, isEnd };
}

/** The end of the shortest card number that begins at a digit. */
function endOfCard(digits: string, isEnd: Uint8Array, from: number): number | undefined {
  for (const length of cardLengths[digits[from] as string] ?? []) {
    const to = from + length;
    if (
      to <= digits.length &&
      isEnd[to - 1] === 1 &&
      fitsLuhn(digits, from, to) &&
      isCardNumber(digits.slice(from, to))
    )
      return to;
  }
  return undefined;
}

/** Lengths of card numbers, by their first digits. */
const cardLengths: Readonly<Record<string, readonly number[]>> = {
  '2': [16],
  '3': [14, 15, 16],
  '4': [13, 16, 19],
  '5': [16],
  '6': [16, 17, 18, 19],
};

// Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay and Maestro, by their
// first digits and lengths.
const cardForm = new RegExp(
  [
    String.raw`^(?:4(?:\d{12}|\d{15}|\d{18})|5\d{15}|2[2-7]\d{14}|3[47]\d{13}`,
    String.raw`3[0689]\d{12}|35\d{14}|6\d{15,18})$`,
  ].join('|'),
  '',
);

/** True when the check digit of Luhn fits, in a number that a card scheme could have issued. */
export function isCardNumber(digits: string): boolean {
  return cardForm.test(digits) && fitsLuhn(digits, 0, digits.length);
}

function fitsLuhn(digits: string, from: number, to: number): boolean {
  let sum = 0;
  for (let at = to - 1, isDoubled = false; at >= from; at--, isDoubled = !isDoubled) {
    const digit = digits.charCodeAt(at) - 48;
    const counted = isDoubled ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

const ibanStart = /(?<![\p{L}\p{N}])([A-Za-z]{2})\d{2}(?=[ ]?[A-Za-z0-9]{2})/gu;

function redactIbans(text: string, replacement: string, count: () => void): string {
  let kept = '';
  let done = 0;
  for (const match of text.matchAll(ibanStart)) {
    const length = ibanLengths[match[1]?.toUpperCase() ?? ''];
    if (length === undefined || match.index < done) continue;
    const end = endOfIban(text, match.index, length);
    if (end === undefined) continue;
    kept += text.slice(done, match.index) + replacement;
    done = end;
    count();
  }
  return done === 0 ? text : kept + text.slice(done);
}

/**
 * The end of the IBAN with this number of signs that begins at a place; single spaces may part it.
 */
function endOfIban(text: string, from: number, length: number): number | undefined {
  let signs = 0;
  let at = from;
  for (; signs < length && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isLetterOrDigit(code)) signs++;
    else if (code !== space || text.charCodeAt(at - 1) === space) return undefined;
  }
  if (signs < length || /^[\p{L}\p{N}]/u.test(text.slice(at, at + 2))) return undefined;
  return isIban(text.slice(from, at).replaceAll(' ', '').toUpperCase()) ? at : undefined;
}

const space = 0x20;

function isLetterOrDigit(code: number): boolean {
  const letter = code | 0x20;
  return (code >= 48 && code <= 57) || (letter >= 97 && letter <= 122);
}

/**
 * True when the check digits of ISO 13616 fit: the number, begun with its fifth sign, leaves 1 when
 * divided by 97.
 */
function isIban(signs: string): boolean {
  let rest = 0;
  for (let i = 0; i < signs.length; i++) {
    const code = signs.charCodeAt((i + 4) % signs.length) | 0x20;
    const value = code < 97 ? code - 48 : code - 87;
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(
  `(?<![\\p{L}\\p{N}.])${octet}(?:\\.${octet}){3}(?!\\.?[\\p{L}\\p{N}])`,
  'gu',
);
const ipv6Run = /(?<![\p{L}\p{N}:.])[0-9A-Fa-f:]{2,39}(?![\p{L}\p{N}:])/gu;

function redactIpAddresses(text: string, replacement: string, count: () => void): string {
  const redacted = text.includes(':')
    ? replaceAll(text, ipv6Run, replacement, count, isIpv6)
    : text;
  return redacted.includes('.') ? replaceAll(redacted, ipv4, replacement, count) : redacted;
}

function isIpv6(found: string): boolean {
  // `a::b` is how programs name things too.
  if (!/\d/.test(found)) return false;
  const halves = found.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  return (
    groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) &&
    (halves.length === 2 ? groups.length >= 1 && groups.length < 8 : groups.length === 8)
  );
}
