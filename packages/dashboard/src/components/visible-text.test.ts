import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible, visibleJson } from './visible-text.ts';

test('what is hidden, or turns text around, is shown as a sign', () => {
  expect(visible('a\u202Emoc.knab@b\u200B')).toBe('a⟨U+202E⟩moc.knab@b⟨U+200B⟩');
  expect(visible('\u001b[31m\u007f')).toBe('␛[31m␡');
});

const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
const coder = '\u{1f469}\u{1f3fd}\u200d\u{1f4bb}';
const eye = '\u{1f441}\ufe0f\u200d\u{1f5e8}\ufe0f';
const pirates = '\u{1f3f4}\u200d\u2620\ufe0f';

test('the parts of one emoji stay together', () => {
  for (const emoji of [family, coder, eye, pirates]) {
    expect(visible(`before ${emoji} behind`)).toBe(`before ${emoji} behind`);
    expect(JSON.parse(visibleJson({ emoji }))).toEqual({ emoji });
    expect(visibleJson(emoji)).toContain(emoji);
  }
});

test('a joiner that joins no emoji is shown as a sign', () => {
  const sign = '⟨U+200D⟩';
  expect(visible('a\u200db')).toBe(`a${sign}b`);
  expect(visible('\u{1f468}\u200d')).toBe(`\u{1f468}${sign}`);
  expect(visible('\u{1f468}\u200dx')).toBe(`\u{1f468}${sign}x`);
  expect(visible('\u200d\u{1f468}')).toBe(`${sign}\u{1f468}`);
  expect(visible('\u{1f468}\u200d\u200d\u{1f468}')).toBe(`\u{1f468}${sign}${sign}\u{1f468}`);
  expect(visible('1\u200d2')).toBe(`1${sign}2`);
});

const anyText = fc.string({ unit: 'binary', maxLength: 30 });

test('text without a joiner between emoji has a sign for each hidden character', () => {
  const isHidden =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is shown as signs
    /^[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]$/;
  const marks = fc.constantFrom('\u200b', '\u200d', '\u202e', '\u2066', '\ufeff', '\u0007', 'a');
  fc.assert(
    fc.property(fc.array(fc.oneof(anyText, marks)), (parts) => {
      const text = parts.join('');
      fc.pre(!/\u200d\p{Extended_Pictographic}/u.test(text));
      const each = [...text].map((one) => (isHidden.test(one) ? visible(one) : one));
      expect(visible(text)).toBe(each.join(''));
      expect([...visible(text)].some((one) => isHidden.test(one))).toBe(false);
    }),
  );
});

test('JSON that hides nothing reads as the same value', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const json = visibleJson({ [text]: [text, '\u202e'] });
      expect(JSON.parse(json)).toEqual({ [text]: [text, '\u202e'] });
      expect(visible(json)).toBe(json);
    }),
  );
});
