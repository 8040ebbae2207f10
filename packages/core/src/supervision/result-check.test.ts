import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defined } from '../base/defined.ts';
import type { JsonValue } from '../base/json.ts';
import type { ToolResult } from '../ledger/tool-result.ts';
import { resolveSupervision } from './options.ts';
import { type CheckedCall, checkResult } from './result-check.ts';

const options = resolveSupervision(undefined, undefined, []).results as NonNullable<
  ReturnType<typeof resolveSupervision>['results']
>;
const reads: CheckedCall = { name: 'read', args: {}, readOnly: true };
const writes: CheckedCall = { name: 'write', args: {}, readOnly: false };
const success = (content: JsonValue): ToolResult => ({ status: 'success', content });
const checkOf = (call: CheckedCall, content: JsonValue) =>
  checkResult(call, success(content), options)?.check;

describe('empty results', () => {
  const empty: readonly JsonValue[] = [
    null,
    '',
    ' \n',
    [],
    {},
    { results: [] },
    { results: [], total: 0 },
    { items: [], query: 'oil', page: 1, note: null },
  ];
  it.each(empty.map((content) => [content]))('%j', (content) => {
    const doubt = checkResult(reads, success(content), options);
    expect(doubt).toMatchObject({
      check: 'empty_result',
      result: { status: 'partial', errorType: 'empty_result', confidence: 0.3, content },
    });
    expect(doubt?.notes).toHaveLength(1);
    expect(doubt?.reasoning).toContain('read gave an empty result');
    expect(checkResult(writes, success(content), options)).toBeUndefined();
    expect(checkResult(reads, success(content), { ...options, empty: false })).toBeUndefined();
    expect(
      checkResult({ ...reads, check: { empty: false } }, success(content), options),
    ).toBeUndefined();
    expect(
      checkResult({ ...writes, check: { empty: true } }, success(content), options)?.check,
    ).toBe('empty_result');
  });

  const full: readonly JsonValue[] = [
    0,
    false,
    'none',
    [0],
    [null],
    { results: [1] },
    { name: 'Ada', tags: [] },
    { a: [], b: [] },
    { a: null },
  ];
  it.each(full.map((content) => [content]))('not %j', (content) =>
    expect(checkOf(reads, content)).toBeUndefined(),
  );
});

const script = 'var x = "<p>";'.repeat(400);
const challenge = `<!DOCTYPE html><html><head><title>Just a moment...</title>\
<script>${script}</script></head>
<body><h1>example.com</h1><p>Enable JavaScript and cookies to continue</p></body></html>`;
const article =
  '<html><head><title>Access denied: a short history</title></head>' +
  `<body>${'<p>Long ago, doors were locked.</p>'.repeat(200)}</body></html>`;

it('a type that the tool itself gave stays', () => {
  const given: ToolResult = { status: 'partial', content: [], errorType: 'out_of_date' };
  expect(checkResult(reads, given, options)?.result).toEqual({ ...given, confidence: 0.3 });
});

describe('pages that keep visitors out', () => {
  it.each<[JsonValue]>([
    [challenge],
    ['<title>Attention Required! | Cloudflare</title><p>Sorry, you have been blocked</p>'],
    [
      '<html><head><title>Access Denied</title></head><body>You do not have ' +
        'permission.</body></html>',
    ],
    ['<html><body><h1>403 Forbidden</h1><hr>nginx</body></html>'],
    ['# Are you a robot?\nPlease tick the box.'],
    ['Our systems have detected unusual traffic from your computer network.'],
    [{ url: 'https://a.example', title: 'Just a moment...', text: '' }],
    [{ status: 200, body: '<p>Please verify you are human</p>' }],
    ['Security check'],
  ])('%j', (content) => {
    const doubt = checkResult(reads, success(content), options);
    expect(doubt).toMatchObject({
      check: 'blocked_page',
      result: { status: 'partial', errorType: 'blocked_page', confidence: 0.2, content },
    });
    expect(checkResult(reads, success(content), { ...options, blockPages: false })).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['long articles', article],
    [
      'long texts',
      `Access denied: a short history. ${'Long ago, doors were locked. '.repeat(200)}`,
    ],
    ['numbers', '403 items were found'],
    ['what is only about it', 'The report says that access was never denied to anybody.'],
    ['words within', '<title>How to get past "Access denied"</title><p>Ask the owner.</p>'],
    ['other results', { title: 'Forbidden City', text: 'A palace in Beijing.' }],
    ['results that are no pages', { denied: 3, robots: ['r2', 'c3'] }],
    ['a check that was done', 'Security check passed: nothing was found.'],
  ])('not %s', (_name, content) => expect(checkOf(reads, content)).toBeUndefined());
});

describe('results without the words that were searched for', () => {
  const search = (args: JsonValue, more: Partial<CheckedCall> = {}): CheckedCall => ({
    name: 'search',
    args,
    readOnly: true,
    ...more,
  });
  const weather = { results: [{ title: 'Sunny, 21 degrees', url: 'https://weather.example' }] };

  it.each<[string, CheckedCall, JsonValue]>([
    ['another topic', search({ query: 'oil prices today' }), weather],
    [
      'the query repeated',
      search({ query: 'oil prices today' }),
      { query: 'oil prices today', ...weather },
    ],
    ['a list of words', search({ keywords: ['oil', 'price'] }), weather],
    [
      'an argument that the tool names',
      search({ topic: 'oil' }, { readOnly: false, check: { query: 'topic' } }),
      weather,
    ],
    ['other scripts', search({ q: '原油価格' }), '今日は晴れです'],
    ['other alphabets', search({ q: 'цена нефти' }), 'Солнечно'],
  ])('%s', (_name, call, content) => {
    const doubt = checkResult(call, success(content), options);
    expect(doubt).toMatchObject({
      check: 'relevance',
      result: { status: 'success', confidence: 0.4, content },
    });
    expect(doubt?.result.errorType).toBeUndefined();
    expect(checkResult(call, success(content), { ...options, relevance: false })).toBeUndefined();
  });

  it.each<[string, CheckedCall, JsonValue]>([
    ['one word is there', search({ query: 'oil prices' }), 'OIL is up'],
    ['another ending', search({ query: 'prices' }), 'The price of oil'],
    ['other accents', search({ query: 'Café' }), 'the best cafe in town'],
    ['only stop words and short ones', search({ query: 'what is it, and who?' }), weather],
    ['a tool that writes', search({ query: 'oil' }, { readOnly: false }), weather],
    ['an argument of another name', search({ topic: 'oil' }), weather],
    ['no argument', search(null), weather],
    [
      'an empty result is one',
      search({ query: 'oil' }, { check: { empty: false } }),
      { results: [] },
    ],
    ['a number', search({ query: 'how many wells' }), 12],
    ['the language of a database', search({ query: 'select name from users' }), [{ name: 'Ada' }]],
    ['an expression', search({ query: 'sum(wells) * 2' }), 'twelve'],
    ['two characters of a script without spaces', search({ q: '原油価格' }), '原油が上がる'],
  ])('not when %s', (_name, call, content) =>
    expect(checkResult(call, success(content), options)).toBeUndefined(),
  );
});

describe('a tool with a check of its own', () => {
  it('doubts a result with a sentence for the model', () => {
    const call = {
      ...reads,
      args: { day: 'today' },
      check: {
        validate: (result: ToolResult, args: JsonValue) =>
          `${String(result.content)} is not ${(args as { day: string }).day}`,
      },
    };
    const doubt = checkResult(call, success('yesterday'), options);
    expect(doubt).toMatchObject({
      check: 'validate',
      notes: ['yesterday is not today'],
      result: { status: 'success', confidence: 0.4 },
    });
  });

  it('doubts besides the other checks', () => {
    const doubt = checkResult(
      { ...reads, check: { validate: () => 'There is always one.' } },
      success([]),
      options,
    );
    expect(doubt).toMatchObject({ check: 'empty_result, validate', result: { confidence: 0.3 } });
    expect(doubt?.notes).toHaveLength(2);
  });

  it('doubts when its check fails, and does not tell how: the error may hold anything', () => {
    const validate = (): never => {
      throw new Error('the key is sk-123');
    };
    const doubt = checkResult({ ...reads, check: { validate } }, success('x'), options);
    expect(doubt?.check).toBe('validate');
    expect(JSON.stringify(doubt)).not.toContain('sk-123');
  });
});

describe('confidence', () => {
  const anyContent = fc.oneof(
    fc.constantFrom<JsonValue>(null, '', [], { results: [] }, challenge, 'Access denied', 'oil'),
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
  );

  it('is never raised, and nothing else of the result is lost', () => {
    fc.assert(
      fc.property(
        anyContent,
        fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
        fc.boolean(),
        (content, confidence, readOnly) => {
          const given: ToolResult = {
            status: 'success',
            content,
            metadata: { kept: true },
            ...defined({ confidence }),
          };
          const doubt = checkResult(
            { name: 'search', args: { query: 'oil' }, readOnly },
            given,
            options,
          );
          if (doubt === undefined) return;
          expect(doubt.result.confidence).toBeLessThanOrEqual(confidence ?? 1);
          expect(doubt.result.content).toBe(content);
          expect(doubt.result.metadata).toEqual({ kept: true });
          expect(given.status).toBe('success');
        },
      ),
    );
  });

  it('is told to the model below the threshold only', () => {
    expect(checkResult(reads, success([]), { ...options, lowConfidence: 0.3 })).toMatchObject({
      notes: [],
      result: { confidence: 0.3 },
    });
    expect(
      checkResult(reads, success([]), { ...options, lowConfidence: 0.31 })?.notes,
    ).toHaveLength(1);
  });

  it('of the tool itself is told where more is asked for than prompts ask for anyway', () => {
    const unsure: ToolResult = { status: 'success', content: 'perhaps', confidence: 0.6 };
    expect(checkResult(reads, unsure, options)).toBeUndefined();
    expect(checkResult(reads, unsure, { ...options, lowConfidence: 0.8 })).toMatchObject({
      result: unsure,
      check: 'confidence',
    });
  });

  it('is no matter for results that failed', () => {
    for (const status of [
      'error_transient',
      'error_permanent',
      'error_blocked',
      'timeout',
      'unknown',
    ] as const) {
      expect(checkResult(reads, { status, content: '' }, options)).toBeUndefined();
    }
  });
});

it.each(['<', '<script', '<script>', '</', '<title', '<h1>', '# ', 'a ', 'human '])(
  'takes time in proportion to the length of %j repeated',
  (part) => {
    const text = `captcha </ ${part.repeat(55_000 / part.length)}`;
    for (let i = 0; i < 20; i++)
      checkResult({ ...reads, args: { query: part.repeat(300) } }, success(text), options);
  },
);
