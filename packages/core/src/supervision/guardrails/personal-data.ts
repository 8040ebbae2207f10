import { ibanLengths } from './iban.ts';

/** What can be found in texts. */
export type PersonalDataKind = 'email' | 'phone' | 'creditCard' | 'iban' | 'ssn' | 'ipAddress';

/** In the order in which they are looked for: the one with the strictest form first. */
export const personalDataKinds: readonly PersonalDataKind[] = ['email', 'iban', 'creditCard', 'ssn', 'ipAddress', 'phone'];

/** Gives the text with `replacement` in the place of what was found, and counts it. */
type Redact = (text: string, replacement: string, count: () => void) => string;

const redactions: { readonly [Kind in PersonalDataKind]: Redact } = {
  email: (text, replacement, count) => (text.includes('@') ? replaceAll(text, email, replacement, count) : text),
  iban: (text, replacement, count) => redactIbans(text, replacement, count),
  creditCard: (text, replacement, count) => redactCards(text, replacement, count),
  ssn: (text, replacement, count) => replaceAll(text, ssn, replacement, count),
  ipAddress: (text, replacement, count) => redactIpAddresses(text, replacement, count),
  phone: (text, replacement, count) => replaceAll(text, phone, replacement, count, isPhone),
};

const anyMark = /@|\d|::/;

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
  for (const kind of kinds) redacted = redactions[kind](redacted, replacement(kind), () => count(kind));
  return redacted;
}

function replaceAll(text: string, pattern: RegExp, replacement: string, count: () => void, isRight: (found: string) => boolean = () => true): string {
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

/** International with `+` or `00`, or national in a form that dates, sums and numbers of orders do not have. */
function isPhone(found: string): boolean {
  const digits = found.replace(/\D/g, '');
  if (/^\(?\+/.test(found)) return digits.length >= 8 && digits.length <= 15;
  if (digits.startsWith('00')) return digits.length >= 10 && digits.length <= 17;
  return northAmerican.test(found) || (national.test(found) && digits.length >= 8 && digits.length <= 13);
}

const cardRun = /(?<![\p{L}\p{N}])\d(?:[ -]?\d){12,}(?![\p{L}\p{N}])/gu;
const shortestCard = 13;
const longestCard = 19;

function redactCards(text: string, replacement: string, count: () => void): string {
  return text.replace(cardRun, (run) => redactCardsInRun(run, replacement, count));
}

/** Card numbers begin and end where a group of digits does. */
function redactCardsInRun(run: string, replacement: string, count: () => void): string {
  const groups = [...run.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({ digits, from: index, to: index + digits.length }));
  let kept = '';
  let done = 0;
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroupOfCard(groups, first);
    const from = groups[first]?.from ?? 0;
    if (last === undefined) continue;
    kept += run.slice(done, from) + replacement;
    done = groups[last]?.to ?? run.length;
    count();
    first = last;
  }
  return kept + run.slice(done);
}

function lastGroupOfCard(groups: readonly { readonly digits: string }[], first: number): number | undefined {
  let number = '';
  for (let last = first; last < groups.length; last++) {
    number += groups[last]?.digits;
    if (number.length > longestCard) return undefined;
    if (number.length >= shortestCard && isCardNumber(number)) return last;
  }
  return undefined;
}

// Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay and Maestro, by their first digits and lengths.
const cardForm = /^(?:4(?:\d{12}|\d{15}|\d{18})|5\d{15}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|35\d{14}|6\d{15,18})$/;

/** Whether the check digit of Luhn fits, in a number that a scheme could have given. */
export function isCardNumber(digits: string): boolean {
  if (!cardForm.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
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

/** Where the IBAN ends that begins at a place and has so many signs, single spaces apart. */
function endOfIban(text: string, from: number, length: number): number | undefined {
  let signs = '';
  let at = from;
  for (; signs.length < length && at < text.length; at++) {
    const sign = text[at] as string;
    if (/[A-Za-z0-9]/.test(sign)) signs += sign.toUpperCase();
    else if (sign !== ' ' || text[at - 1] === ' ') return undefined;
  }
  if (signs.length < length || /^[\p{L}\p{N}]/u.test(text.slice(at, at + 2))) return undefined;
  return isIban(signs) ? at : undefined;
}

/** Whether the check digits of ISO 13616 fit: the number, begun with its fifth sign, leaves 1 when divided by 97. */
export function isIban(signs: string): boolean {
  let rest = 0;
  for (const sign of signs.slice(4) + signs.slice(0, 4)) {
    const value = Number.parseInt(sign, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`(?<![\\p{L}\\p{N}.])${octet}(?:\\.${octet}){3}(?!\\.?[\\p{L}\\p{N}])`, 'gu');
const ipv6Run = /(?<![\p{L}\p{N}:.])[0-9A-Fa-f:]{2,39}(?![\p{L}\p{N}:])/gu;

function redactIpAddresses(text: string, replacement: string, count: () => void): string {
  const redacted = text.includes(':') ? replaceAll(text, ipv6Run, replacement, count, isIpv6) : text;
  return redacted.includes('.') ? replaceAll(redacted, ipv4, replacement, count) : redacted;
}

function isIpv6(found: string): boolean {
  // `a::b` is how programs name things too.
  if (!/\d/.test(found)) return false;
  const halves = found.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  return (
    groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? groups.length >= 1 && groups.length < 8 : groups.length === 8)
  );
}
