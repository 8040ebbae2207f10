import { describe, expect, test } from 'vitest';
import { canonicalJson, coerceToJson, deepFreeze, findJsonDefect } from './json.ts';

describe('coerceToJson', () => {
  test('replaces what is not JSON and says where', () => {
    const circular: Record<string, unknown> = { name: 'x' };
    circular['self'] = circular;
    const { value, coerced } = coerceToJson({
      big: 10n,
      at: new Date(0),
      nan: Number.NaN,
      symbol: Symbol('s'),
      circular,
      map: new Map([[1, 2]]),
      fine: [1, null],
    });
    expect(value).toEqual({
      big: '10',
      at: '1970-01-01T00:00:00.000Z',
      nan: 'NaN',
      symbol: 'Symbol(s)',
      circular: { name: 'x', self: '[Circular]' },
      map: '[object Map]',
      fine: [1, null],
    });
    expect(coerced).toEqual(['$.big', '$.at', '$.nan', '$.symbol', '$.circular.self', '$.map']);
  });

  test('shows an instance by its fields, or by its string form when it has none', () => {
    class Order {
      readonly id = 7;
    }
    class Sealed {
      readonly #id = 7;
      read(): number {
        return this.#id;
      }
    }
    const { value, coerced } = coerceToJson({
      order: new Order(),
      sealed: new Sealed(),
      response: new Response('text'),
      set: new Set([1]),
      pattern: /a+/g,
      url: new URL('https://example.com/a'),
      silent: Object.assign(Object.create({ toJSON: () => ({}) }), { id: 1 }),
      loud: Object.create({
        toString: () => {
          throw new Error('no');
        },
      }),
    });
    expect(value).toEqual({
      order: { id: 7 },
      sealed: '[object Sealed]',
      response: '[object Response]',
      set: '[object Set]',
      pattern: '/a+/g',
      url: 'https://example.com/a',
      silent: {},
      loud: '[object Object]',
    });
    expect(coerced).toEqual([
      '$.order',
      '$.sealed',
      '$.response',
      '$.set',
      '$.pattern',
      '$.url',
      '$.silent',
      '$.loud',
    ]);
  });

  test('keeps a member named __proto__ as a member', () => {
    const { value } = coerceToJson(JSON.parse('{"__proto__": {"polluted": true}, "a": 1}'));
    expect(Object.keys(value as object)).toEqual(['__proto__', 'a']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('changes nothing that is JSON', () => {
    const given = { a: [1, 'two', { three: null }], b: true };
    expect(coerceToJson(given)).toEqual({ value: given, coerced: [] });
  });
});

describe('findJsonDefect', () => {
  test('names the path of the first part that is not JSON', () => {
    expect(findJsonDefect({ items: [{ price: 1 }, { price: 1n }] })).toEqual({
      path: '$.items[1].price',
      found: 'bigint',
    });
    expect(findJsonDefect({ at: new Date() })).toEqual({
      path: '$.at',
      found: 'an instance of Date',
    });
    expect(findJsonDefect({ a: undefined, b: [1] })).toBeUndefined();
  });
});

test('canonicalJson does not depend on the order of keys', () => {
  expect(canonicalJson({ b: 1, a: [{ d: undefined, c: 'x' }] })).toBe('{"a":[{"c":"x"}],"b":1}');
  expect(canonicalJson({ a: [{ c: 'x' }], b: 1 })).toBe(canonicalJson({ b: 1, a: [{ c: 'x' }] }));
});

test('deepFreeze freezes every part', () => {
  const frozen = deepFreeze({ a: { b: [{ c: 1 }] } });
  expect(Object.isFrozen(frozen.a.b[0])).toBe(true);
});
