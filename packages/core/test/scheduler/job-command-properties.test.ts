import { type JobLanguage, parseJobCommand } from 'adjutant/scheduler';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { phrasings } from './job-commands.corpus.ts';
import { nearMisses } from './near-misses.corpus.ts';
import { taskInfo } from './task-info.fixture.ts';

const before = fc.constantFrom('', 'Hey, ', 'please ', 'OK, ', 'Oh, ', 'hello there. ', 'Um… ');
const asking = fc.constantFrom('could you ', 'Can you please ', 'would you ', 'Would you kindly ');
const after = fc.constantFrom('', ' please', ', please', ' now', ', thanks', '. Thank you!', ' 🙏');
const end = fc.constantFrom('', '.', '!', '!!', '…', ' ');

/** Phrasings that courtesies may follow: the text of a submission is kept as it is. */
const commands = phrasings.filter(({ command }) => command.kind !== 'submit');
const questions = ['list', 'status', 'progress'];
const orders = commands.filter(
  ({ text, command }) => !questions.includes(command.kind) && !/^(this|that|it)\b/i.test(text),
);

const phrasing = fc.constantFrom(...commands);
const order = fc.constantFrom(...orders.filter(({ text }) => /^(cancel|pause|do) /i.test(text)));
const nearMiss = fc.constantFrom(...nearMisses);

function trimmed(text: string): string {
  return text.replace(/[.!?\s]+$/, '');
}

describe('courtesies', () => {
  test('do not change a command', () => {
    fc.assert(
      fc.property(before, phrasing, after, end, (start, { text, command }, courtesy, stop) => {
        const isQuestion = text.endsWith('?') ? '?' : '';
        const whole = `${start}${trimmed(text)}${courtesy}${isQuestion}${stop}`;
        expect([whole, parseJobCommand(whole)]).toEqual([whole, command]);
      }),
      { numRuns: 2000 },
    );
  });

  test('make a question of an order', () => {
    fc.assert(
      fc.property(before, asking, order, after, (start, question, { text, command }, courtesy) => {
        const whole = `${start}${question}${trimmed(text)}${courtesy}?`;
        expect([whole, parseJobCommand(whole)]).toEqual([whole, command]);
      }),
      { numRuns: 1000 },
    );
  });

  test('do not make a command of a near miss', () => {
    const opening = fc.oneof(before, asking);
    fc.assert(
      fc.property(opening, nearMiss, after, end, (start, text, courtesy, stop) => {
        const whole = `${start}${text}${courtesy}${stop}`;
        expect([whole, parseJobCommand(whole)]).toEqual([whole, undefined]);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the way a message is written', () => {
  const writings: readonly ((text: string) => string)[] = [
    (text) => text.toUpperCase(),
    (text) => text.toLowerCase(),
    (text) => text.replaceAll("'", '’'),
    (text) => text.replaceAll(' ', '\u00a0 '),
    (text) => text.normalize('NFD'),
    (text) => `  ${text}\n`,
    (text) =>
      text.replace(/[a-z]/gi, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
  ];

  test('does not change a command', () => {
    fc.assert(
      fc.property(phrasing, fc.constantFrom(...writings), ({ text, command }, write) => {
        expect(parseJobCommand(write(text))).toEqual(command);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('any input', () => {
  const kinds = new Set(phrasings.map(({ command }) => command.kind));
  const words = fc.constantFrom(
    ...new Set(phrasings.flatMap(({ text }) => text.split(' '))),
    ...['{task}', '(a|b)', '[now]', '\u0000', '\ud800', '\u202e', '💥', '`', '\\', '"', '\n'],
  );

  test('gives a command or nothing', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.array(words, { maxLength: 60 }).map((list) => list.join(' ')),
    );
    const tasks = fc.array(fc.string({ unit: 'binary' }).map((name) => taskInfo({ name })));
    fc.assert(
      fc.property(text, fc.option(tasks, { nil: undefined }), (message, known) => {
        const command = parseJobCommand(message, known === undefined ? {} : { tasks: known });
        expect(command === undefined || kinds.has(command.kind)).toBe(true);
        expect(parseJobCommand(message, known === undefined ? {} : { tasks: known })).toEqual(
          command,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('that is not a string gives nothing', () => {
    for (const value of [undefined, null, 3, {}, [], ['cancel that'], Symbol('x'), () => 'x'])
      expect(parseJobCommand(value as unknown as string)).toBeUndefined();
  });

  test('is looked at only at its beginning when it is long', () => {
    const rest = 'x '.repeat(5_000_000).trim();
    const command = parseJobCommand(`Urgent: ${rest}`);
    expect(command?.kind === 'submit' && command.text === rest).toBe(true);
    for (const part of ['please ', 'cancel ', 'the ', "'a", '🙏', 'a.', '-', '? ', 'no ', '\n'])
      expect(parseJobCommand(part.repeat(1_000_000))).toBeUndefined();
    expect(parseJobCommand(`Cancel that${' please'.repeat(40)}`)).toBeUndefined();
    expect(parseJobCommand(`${' '.repeat(1_000_000)}cancel that`)?.kind).toBe('cancel');
  });
});

describe('names of the assistant', () => {
  const assistantNames = ['Annie', 'Dr. Brown'];

  test.each([
    'Annie, what are you working on?',
    'Hey Annie, what are you working on?',
    'What are you working on, annie?',
    'Dr Brown, what are you working on?',
    'hey annie what are you working on right now please',
  ])('may stand around a command: %s', (text) => {
    expect(parseJobCommand(text, { assistantNames })).toEqual({ kind: 'list' });
    expect(parseJobCommand(text)).toBeUndefined();
  });

  test('stay a part of other messages', () => {
    expect(parseJobCommand('What is Annie working on?', { assistantNames })).toBeUndefined();
    expect(parseJobCommand('Annie', { assistantNames })).toBeUndefined();
  });
});

test('another language is a table', () => {
  const german: JobLanguage = {
    contractions: { wieso: 'warum' },
    groups: { jetzt: 'jetzt|gerade|im moment' },
    before: [
      { phrases: ['(hallo|hey|bitte)'] },
      { phrases: ['(kannst|könntest) du [bitte]'], asks: true },
    ],
    after: [{ phrases: ['bitte', '<jetzt>', 'danke'] }],
    inflections: {},
    commands: [
      { kind: 'list', phrases: ['woran arbeitest du [<jetzt>]'] },
      { kind: 'status', phrases: ['wie beschäftigt bist du [<jetzt>]'] },
      { kind: 'cancel', phrases: ['brich {it} ab', '{it} abbrechen'] },
      { kind: 'reprioritize', priority: 'high', phrases: ['mach {one} zuerst'] },
    ],
    submissions: [{ priority: 'high', phrases: ['das ist dringend', 'dringend'] }],
    requests: [],
    targets: {
      pronouns: ['(das|es)'],
      current: ['(diese|die) aufgabe'],
      last: ['die letzte [aufgabe]'],
      everything: ['alles'],
      all: ['alle aufgaben'],
      number: ['nummer {n}', 'die {nth} [aufgabe]'],
      bareNumber: ['{n}'],
      numbers: { zwei: 2 },
      ordinals: { zweite: 2 },
      determiners: ['die', 'den', 'das'],
      possessives: ['mein', 'meine'],
      taskWords: ['aufgabe'],
      likelyTaskWords: [],
      nameFollows: [],
      workWords: ['recherche', 'bericht'],
      subjectFollows: ['zu', 'über'],
      notInNames: ['und', 'oder'],
      fillers: ['der', 'die', 'das', 'zu', 'über'],
    },
  };
  const languages = [german];
  const parse = (text: string) => parseJobCommand(text, { languages });
  expect(parse('Woran arbeitest du gerade?')).toEqual({ kind: 'list' });
  expect(parse('Wie beschäftigt bist du?')).toEqual({ kind: 'status' });
  expect(parse('Kannst du bitte die Recherche zu Batterien abbrechen?')).toEqual({
    kind: 'cancel',
    target: { kind: 'named', words: 'recherche zu batterien' },
  });
  expect(parse('Mach die zweite Aufgabe zuerst, bitte')).toEqual({
    kind: 'reprioritize',
    target: { kind: 'number', number: 2 },
    priority: 'high',
  });
  expect(parse('Dringend: Ruf einen Arzt')).toMatchObject({ kind: 'submit', priority: 'high' });
  expect(parse('Brich den Zweig ab')).toBeUndefined();
  expect(parse('Cancel that')).toBeUndefined();
  expect(() => parseJobCommand('x', { languages: [{ ...german, groups: {} }] })).toThrow(
    'no group <jetzt>',
  );
});
