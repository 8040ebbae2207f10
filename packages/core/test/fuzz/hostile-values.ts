import fc from 'fast-check';

function throwing(): never {
  throw new Error('It cannot be looked at.');
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = { name: 'round' };
  value['self'] = value;
  return [value];
}

/** Made anew each time: some of them change when they are looked at. */
const made: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => 10n ** 400n,
  () => Symbol('s'),
  () => throwing,
  () => new Date(Number.NaN),
  () => new Map([[{}, new Set([1])]]),
  () => new Uint8Array(10),
  () => new WeakMap(),
  () => Object.create(null) as unknown,
  () => Object.freeze([Object.freeze({})]),
  () => JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1, "toString": 2}') as unknown,
  () => ({ $blob: 'a'.repeat(64), hash: 'b', size: 1, preview: 'x' }),
  () => 'x'.repeat(100_000),
  () => '\ud800 half, \u0000 zero',
  () => Array.from({ length: 3 }),
  circular,
  () => deep(150),
  () => deep(20_000),
  () => ({ toJSON: throwing }),
  () => ({ toJSON: () => undefined }),
  () => ({ toString: throwing, [Symbol.toPrimitive]: throwing }),
  () => Object.defineProperty({}, 'secret', { get: throwing, enumerable: true }),
  () => Object.defineProperty({}, 'then', { get: throwing, enumerable: true }),
  () => Object.defineProperty({}, 'then', { value: throwing, enumerable: true }),
  () =>
    new Proxy({}, { ownKeys: throwing, getPrototypeOf: throwing, get: throwing, has: throwing }),
  () => Proxy.revocable({}, {}).proxy,
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  () => Object.assign(new Error('plain'), { cause: circular() }),
  () => Object.defineProperty(new Error('odd'), 'message', { get: throwing }),
  () => new AggregateError([new Error('one'), null], ''),
  () => new Response('body'),
];

/**
 * Values that no JSON can hold, that throw when they are looked at, or that are like something
 * else.
 */
export const hostileValues: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...made) },
  fc
    .anything({
      maxDepth: 3,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    .map((value) => () => value),
  fc.constantFrom(...made).map((make) => () => ({ inside: [make()] })),
);
