import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { hostileTexts } from './hostile-texts.fixture.ts';
import { isCardNumber, type PersonalDataKind } from './personal-data.ts';
import { type RedactPersonalDataOptions, redactPersonalData } from './redact-personal-data.ts';

/** Returns the content of a result after the redaction. */
function redacted(content: JsonValue, options?: RedactPersonalDataOptions): JsonValue {
  const verdict = redactPersonalData(options).toolResult?.({
    agent: 'a',
    round: 1,
    name: 't',
    args: {},
    result: { status: 'success', content },
  });
  return verdict?.action === 'transform' ? verdict.value : content;
}

describe('is taken out', () => {
  test.each([
    ["write to bob.o'neil+x@mail.example.co.uk, please", 'write to [email], please'],
    ['MÜLLER@BÜCHER.example', '[email]'],
    ['<a@b.io>', '<[email]>'],
    ['call +49 30 901820 now', 'call [phone] now'],
    ['+1 (415) 555-2671', '[phone]'],
    ['(415) 555-2671 or 415.555.2671', '[phone] or [phone]'],
    ['0044 20 7946 0958', '[phone]'],
    ['030/901820-12', '[phone]'],
    ['card 4111 1111 1111 1111.', 'card [creditCard].'],
    ['4111-1111-1111-1111', '[creditCard]'],
    ['378282246310005', '[creditCard]'],
    ['order 1234 4111 1111 1111 1111', 'order 1234 [creditCard]'],
    ['DE89 3704 0044 0532 0130 00 AND MORE', '[iban] AND MORE'],
    ['gb82west12345698765432', '[iban]'],
    ['to NO9386011117947, soon', 'to [iban], soon'],
    ['SSN 078-05-1120', 'SSN [ssn]'],
    ['from 192.168.0.1:8080', 'from [ipAddress]:8080'],
    ['2001:0db8:85a3:0000:0000:8a2e:0370:7334', '[ipAddress]'],
    ['at fe80::1, or ::1', 'at [ipAddress], or [ipAddress]'],
    ['two: a@b.io c@d.io', 'two: [email] [email]'],
  ])('%j becomes %j', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });
});

describe('stays', () => {
  test.each([
    '',
    'No data here.',
    'user@localhost',
    'a @ b',
    '2026-11-22 04:50:30',
    '22.11.2026',
    '12:30:45',
    '4111 1111 1111 1112',
    '1234567890123456789012345',
    'DE89 3704 0044 0532 0130 01',
    'XX89 3704 0044 0532 0130 00',
    '000-12-3456',
    '666-12-3456',
    '900-12-3456',
    '1234-56-7890',
    '999.999.999.999',
    '1.2.3',
    '1.2.3.4.5',
    'std::vector and a::b',
    'EUR 1.234.567,89',
    'Order 4711-0815',
    'ISBN 978-3-16-148410-0',
    '9007199254740991',
    '3.141592653589793',
    'f47ac10b-58cc-4372-a567-0e02b2c3d479',
  ])('%j', (text) => {
    expect(redacted(text)).toBe(text);
  });
});

test('texts, numbers and names of members anywhere in a value; nothing is lost', () => {
  expect(
    redacted({
      people: [
        { 'a@b.io': 1, 'c@d.io': 2 },
        { note: 'a@b.io', card: 4111111111111111, age: 44 },
      ],
      ok: true,
      none: null,
    }),
  ).toEqual({
    people: [
      { '[email] 1': 1, '[email] 2': 2 },
      { note: '[email]', card: '[creditCard]', age: 44 },
    ],
    ok: true,
    none: null,
  });
});

test('a member named __proto__ stays a member', () => {
  const content = JSON.parse('{"__proto__": {"mail": "a@b.io"}}') as JsonValue;
  expect(JSON.stringify(redacted(content))).toBe('{"__proto__":{"mail":"[email]"}}');
});

test('ten thousand addresses as names are no harm', () => {
  const content = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}@x.io`, i]));
  const names = Object.keys(redacted(content) as object);
  expect([names.length, names[0], names.at(-1)]).toEqual([10_000, '[email] 1', '[email] 10000']);
});

describe('options', () => {
  const text = 'a@b.io, 192.168.0.1';

  test('kinds', () => {
    expect(redacted(text, { kinds: ['ipAddress'] })).toBe('a@b.io, [ipAddress]');
    // An empty list would look like protection and be none.
    expect(() => redactPersonalData({ kinds: [] })).toThrow(/at least one of/);
  });

  test('replacement', () => {
    expect(redacted(text, { replacement: (kind) => (kind === 'email' ? '***' : '$&') })).toBe(
      '***, $&',
    );
  });

  test('at', () => {
    const places = (options?: RedactPersonalDataOptions) => {
      const guardrail = redactPersonalData(options);
      return (['input', 'modelCall', 'output', 'toolCall', 'toolResult'] as const).filter(
        (point) => guardrail[point] !== undefined,
      );
    };
    expect(places()).toEqual(['input', 'output', 'toolResult']);
    expect(places({ at: ['toolCall'] })).toEqual(['toolCall']);
    const verdict = redactPersonalData({ at: ['toolCall'] }).toolCall?.({
      agent: 'a',
      round: 1,
      name: 't',
      args: { to: 'a@b.io' },
    });
    expect(verdict).toMatchObject({ action: 'transform', value: { to: '[email]' } });
  });

  test('that cannot work are refused', () => {
    expect(() => redactPersonalData({ kinds: ['name' as PersonalDataKind] })).toThrow(
      'redactPersonalData() cannot be set up: `kinds` must be',
    );
    expect(() => redactPersonalData({ at: ['modelCall' as 'input'] })).toThrow('`at` must be');
  });
});

test('the reason counts what was found and never says it', () => {
  const guardrail = redactPersonalData();
  const verdict = guardrail.output?.({
    agent: 'a',
    round: 1,
    text: 'a@b.io c@d.io 192.168.0.1',
    tools: [],
  });
  expect(verdict).toEqual({
    action: 'transform',
    value: '[email] [email] [ipAddress]',
    reasoning: 'Personal data was taken out: email (2), ipAddress (1).',
  });
  expect(guardrail.input?.({ agent: 'a', round: 1, text: 'nothing 7' })).toBeUndefined();
});

/** Any digits before the check digit that makes the sum right. */
function withLuhn(digits: string): string {
  return [...'0123456789'].map((last) => digits + last).find(isCardNumber) as string;
}

test('every number of a card is found, in groups or not, and none with one digit changed', () => {
  const digits = fc
    .tuple(fc.constantFrom('4', '51', '37', '6011'), fc.stringMatching(/^\d{14}$/))
    .map(([prefix, rest]) => (prefix + rest).slice(0, prefix === '37' ? 14 : 15));
  fc.assert(
    fc.property(
      digits,
      fc.constantFrom('', ' ', '-'),
      fc.nat({ max: 13 }),
      (known, separator, changed) => {
        const card = withLuhn(known);
        const shown = card.replace(/\d{4}(?=\d)/g, `$&${separator}`);
        expect(redacted(`pay ${shown} now`, { kinds: ['creditCard'] })).toBe(
          'pay [creditCard] now',
        );
        const wrong = [...card]
          .map((digit, i) => (i === changed + 1 ? String((Number(digit) + 1) % 10) : digit))
          .join('');
        expect(isCardNumber(wrong)).toBe(false);
      },
    ),
  );
});

test('IBANs of several countries are known by their check digits', () => {
  for (const iban of [
    'DE89370400440532013000',
    'GB82WEST12345698765432',
    'FR1420041010050500013M02606',
    'MT84MALT011000012345MTLCAST001S',
  ]) {
    expect(redacted(iban), iban).toBe('[iban]');
    expect(redacted(`IBAN: ${iban.replace(/.{4}/g, '$& ').trim()}.`), iban).toBe('IBAN: [iban].');
  }
});

test('redacting again changes nothing', () => {
  const part = fc.oneof(
    fc.constantFrom(
      'a@b.io',
      '192.168.0.1',
      '+49 30 901820',
      '4111 1111 1111 1111',
      'DE89 3704 0044 0532 0130 00',
      '078-05-1120',
      ' ',
      ', ',
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const once = redacted(parts.join(' '));
      expect(redacted(once)).toBe(once);
    }),
  );
});

test.each(
  hostileTexts([
    '@',
    'a@',
    'a@b',
    'a@b.',
    '1',
    '1.',
    '1 ',
    '+',
    '+1',
    '(',
    '0/',
    '4111 ',
    '4111-1111-1111-1111 ',
    'DE89',
    'DE89 ',
    ':',
    '1:',
    'f:',
    '::',
    '192.',
    '07 8-',
  ]),
)('a long text of %s takes no longer than others', (_name, text) => {
  redacted(text);
  redacted(`${text}@`);
  redacted(`${text}x1:`);
});

test(
  'a run of groups of digits loses exactly the card numbers that begin and end with a group, ' +
    'the first and shortest first',
  () => {
    const group = fc.constantFrom(
      '4',
      '1',
      '11',
      '1111',
      '4111',
      '007',
      '4222222222222',
      '378282246310005',
      '41',
      '111111111111111',
    );
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(' ', '-'),
        (groups, between) => {
          expect(redacted(groups.join(between), { kinds: ['creditCard'] })).toBe(
            withoutCards(groups, between),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  },
);

function withoutCards(groups: readonly string[], between: string): string {
  const kept: string[] = [];
  for (let first = 0; first < groups.length; first++) {
    const ends = groups.map((_, last) => last).slice(first);
    const last = ends.find((end) => isCardNumber(groups.slice(first, end + 1).join('')));
    kept.push(last === undefined ? (groups[first] as string) : '[creditCard]');
    first = last ?? first;
  }
  return kept.join(between);
}
