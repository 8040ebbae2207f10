import { describe, expect, test } from 'vitest';
import type { Guardrail } from '../guardrail.ts';
import { hostileTexts } from './hostile-texts.fixture.ts';
import { type TopicBoundaryOptions, topicBoundary } from './topic-boundary.ts';

const place = { agent: 'a', round: 1 };
const asked = (guardrail: Guardrail, text: string) =>
  guardrail.input?.({ ...place, text })?.action ?? 'proceed';
const answered = (guardrail: Guardrail, text: string) =>
  guardrail.output?.({ ...place, text, tools: [] })?.action ?? 'proceed';

const money = { money: ['invest*', 'stock market', 'Börse', '株式', /\bETFs?\b/] };

describe('denied topics', () => {
  test.each([
    'Should I INVEST now?',
    'Is an investment wise?',
    'How is the stock\n  market?',
    'Wie steht die Boerse, nein, die Borse?',
    'in\u200Bvest',
    '今日の株式はどうですか',
    'Which ETF?',
  ])('are found in %j', (text) => {
    expect(asked(topicBoundary({ denied: money }), text)).toBe('deny');
    expect(answered(topicBoundary({ denied: money }), text)).toBe('deny');
  });

  test.each(['We reinvested', 'The market has stock', 'stockmarket', 'Where is my parcel?', ''])(
    'are not found in %j',
    (text) => {
      expect(asked(topicBoundary({ denied: money }), text)).toBe('proceed');
      expect(answered(topicBoundary({ denied: money }), text)).toBe('proceed');
    },
  );

  test('are left alone in answers with `output: false`', () => {
    const guardrail = topicBoundary({ denied: money, output: false });
    expect(answered(guardrail, 'Invest')).toBe('proceed');
    expect(asked(guardrail, 'Invest')).toBe('deny');
  });
});

describe('allowed topics', () => {
  const travel = { travel: ['flight*', 'hotel*'] };

  test.each([
    ['Are there flights to Rome?', 'proceed'],
    ['Write a poem about rainy autumn days', 'deny'],
    ['Yes, please do that!', 'proceed'],
    ['Rome', 'proceed'],
  ])('%j: %s', (text, expected) => {
    expect(asked(topicBoundary({ allowed: travel }), text)).toBe(expected);
  });

  test('hold for every message with `minWords: 0`, and for answers never', () => {
    const guardrail = topicBoundary({ allowed: travel, minWords: 0 });
    expect(asked(guardrail, 'Rome')).toBe('deny');
    expect(guardrail.output).toBeUndefined();
  });

  test('do not let a denied one in', () => {
    const guardrail = topicBoundary({ allowed: travel, denied: money });
    expect(asked(guardrail, 'Should I invest in hotels?')).toBe('deny');
  });
});

test('the model is told with `guide`, and the reason names the topic', () => {
  const guide = topicBoundary({ denied: money, action: 'guide' });
  expect(guide.input?.({ ...place, text: 'Invest' })).toEqual({
    action: 'guide',
    message:
      'The last message is about "money", which is out of bounds. ' +
      'Do not help with it. Say so, and offer other topics than this one.',
    reasoning: 'The message is about the denied topic "money".',
  });
  expect(answered(guide, 'Invest')).toBe('guide');
});

test('a message of your own takes the place of the answer', () => {
  const guardrail = topicBoundary({ denied: money, message: 'Ask your bank.' });
  expect(guardrail.input?.({ ...place, text: 'Invest' })).toMatchObject({
    message: 'Ask your bank.',
  });
});

test('a pattern with state gives the same answer each time', () => {
  const guardrail = topicBoundary({ denied: { etf: [/ETF/g] } });
  expect([1, 2, 3].map(() => asked(guardrail, 'ETF'))).toEqual(['deny', 'deny', 'deny']);
});

test.each([
  [{}, '`denied` or `allowed` is needed'],
  [{ denied: {} }, 'names of topics lists of words'],
  [{ denied: ['money'] }, 'names of topics lists of words'],
  [{ denied: { money: [] } }, '"money" is none'],
  [{ denied: { money: ['?!'] } }, '"money" is none'],
  [{ allowed: { money: [1] } }, '"money" is none'],
  [{ denied: money, action: 'transform' }, '`action`'],
  [{ denied: money, minWords: -1 }, '`minWords`'],
  [{ denied: money, topics: money }, 'there is no option `topics`'],
])('%j is refused', (options, reason) => {
  expect(() => topicBoundary(options as TopicBoundaryOptions)).toThrow(reason);
});

test.each(hostileTexts(['invest', 'stock ', 'stock market'.slice(0, 8)]))(
  'a long text of %s takes no longer than others',
  (_name, text) => {
    const guardrail = topicBoundary({ denied: money, allowed: { travel: ['hotel'] } });
    asked(guardrail, text);
    answered(guardrail, `${text}x`);
  },
);
