import fc from 'fast-check';

/** Of JSON Schema what the document of the server uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly example?: unknown;
}

/** Texts that have broken programs before. */
export const hostileTexts: readonly string[] = [
  ...[
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff x',
    '\u202e',
    '\ufeff',
    'é'.repeat(300),
    'x'.repeat(5_000),
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    '-0',
    '1e400',
    '0x10',
    'true',
  ],
  ...[
    '../../etc/passwd',
    '..%2f..',
    '%00',
    '%',
    '%zz',
    '.',
    '..',
    '/',
    '//',
    '\\',
    '?',
    '#',
    ';',
    ':',
    '*',
    '~',
    '@',
  ],
  ...[
    "'; DROP TABLE events; --",
    '" OR 1=1',
    '<script>alert(1)</script>',
    '{{7*7}}',
    '$' + '{7*7}',
    '$where',
    '\r\nset-cookie: a=b',
  ],
  ...[
    '9007199254740993',
    '-1',
    '1.5',
    '99999999999999999999',
    'adjutant:system',
    'shop:keys',
    'session',
    'main#1',
    'left~right',
  ],
];

const hostileText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...hostileTexts) },
  fc.string({ unit: 'binary', maxLength: 40 }),
);

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

const ownProto: unknown = JSON.parse(
  '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
);

/** Any JSON value that nobody asked for. */
const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.5,
    1e308,
    -1e308,
    2 ** 53,
    [],
    {},
    [[]],
    [null],
    { '': '' },
    ownProto,
    nested(90),
    nested(2_000),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const short = fc.stringMatching(/^[a-zA-Z0-9_.-]{1,20}$/);
const mostItems = 4;

/** Options of made-up values. */
export interface ArbitraryOptions {
  readonly components: Readonly<Record<string, JsonSchema>>;
  /**
   * Texts that stand for something that there is, by the names of the properties and parameters
   * that they fit.
   */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** True when there are also values that do not fit. */
  readonly isHostile: boolean;
}

/** Values that fit a schema; or, if they are to be hostile, do so for the most part. */
export class SchemaArbitraries {
  readonly #components: Readonly<Record<string, JsonSchema>>;
  readonly #known: Readonly<Record<string, readonly string[]>>;
  readonly #isHostile: boolean;

  constructor({ components, known, isHostile }: ArbitraryOptions) {
    this.#components = components;
    this.#known = known;
    this.#isHostile = isHostile;
  }

  /**
   * @param name of the property or parameter
   * @param depth how often a schema may refer to others from here on
   */
  of(schema: JsonSchema, name = '', depth = 4): fc.Arbitrary<unknown> {
    const fitting = this.#fitting(schema, name, depth);
    return this.#isHostile
      ? fc.oneof({ weight: 12, arbitrary: fitting }, { weight: 1, arbitrary: hostileValue })
      : fitting;
  }

  #fitting(schema: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { $ref, oneOf, anyOf, allOf, example } = schema;
    if (depth <= 0) return fc.constant(null);
    if ($ref !== undefined)
      return this.of(this.#components[$ref.split('/').at(-1) ?? ''] ?? {}, name, depth - 1);
    const choices = oneOf ?? anyOf;
    if (choices !== undefined)
      return fc.oneof(...choices.map((choice) => this.of(choice, name, depth - 1)));
    if (allOf !== undefined)
      return fc
        .tuple(...allOf.map((part) => this.of(part, name, depth - 1)))
        .map((parts) => Object.assign({}, ...parts.filter(isObject)));
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if ('const' in schema) return fc.constant(schema.const);
    const made = this.#ofType(schema, name, depth);
    return example === undefined
      ? made
      : fc.oneof({ weight: 3, arbitrary: made }, fc.constant(example));
  }

  #ofType(schema: JsonSchema, name: string, depth: number): fc.Arbitrary<unknown> {
    const { type, minimum = -5, maximum = 1_000_000 } = schema;
    const kind = typeof type === 'string' ? type : type?.[0];
    switch (kind) {
      case 'string':
        return this.#text(schema, name);
      case 'integer':
        return this.#integer(minimum, maximum);
      case 'number':
        return fc.double({
          min: minimum,
          max: Math.max(minimum, Math.min(maximum, 1e12)),
          noNaN: true,
        });
      case 'boolean':
        return fc.boolean();
      case 'array':
        return fc.array(this.of(schema.items ?? {}, name, depth - 1), {
          minLength: Math.min(schema.minItems ?? 0, mostItems),
          maxLength: mostItems,
        });
      case 'object':
        return this.#object(schema, depth);
      default:
        return this.#isHostile ? hostileValue : fc.jsonValue({ maxDepth: 2 });
    }
  }

  #integer(minimum: number, maximum: number): fc.Arbitrary<number> {
    const fitting = fc.integer({
      min: Math.max(minimum, -1_000),
      max: Math.min(maximum, minimum + 20),
    });
    return this.#isHostile
      ? fc.oneof(fitting, fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1))
      : fitting;
  }

  #text({ minLength = 0, maxLength = 5_000 }: JsonSchema, name: string): fc.Arbitrary<string> {
    const known = this.#known[name];
    const fitting =
      known === undefined
        ? short
        : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, short);
    if (!this.#isHostile) return fitting;
    const edges = [minLength, Math.min(maxLength, 5_000), Math.min(maxLength + 1, 5_000)].map(
      (length) => 'x'.repeat(length),
    );
    return fc.oneof({ weight: 6, arbitrary: fitting }, fc.constantFrom(...edges), hostileText);
  }

  #object(
    { properties = {}, required = [], additionalProperties }: JsonSchema,
    depth: number,
  ): fc.Arbitrary<unknown> {
    const model = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        this.of(property, name, depth - 1),
      ]),
    );
    const fitting = fc.record(model, { requiredKeys: required.filter((name) => name in model) });
    const others =
      typeof additionalProperties === 'object'
        ? this.of(additionalProperties, '', depth - 1)
        : hostileValue;
    const names = this.#isHostile ? fc.oneof(short, hostileText) : short;
    const more = fc
      .tuple(fitting, fc.dictionary(names, others, { maxKeys: 2 }))
      .map(([own, extra]) => ({ ...own, ...extra }));
    const mayHaveMore = additionalProperties !== undefined && additionalProperties !== false;
    if (!this.#isHostile) return mayHaveMore ? more : fitting;
    return fc.oneof(
      { weight: mayHaveMore ? 4 : 12, arbitrary: fitting },
      more,
      this.#withoutOne(fitting),
    );
  }

  #withoutOne(fitting: fc.Arbitrary<object>): fc.Arbitrary<object> {
    return fc.tuple(fitting, fc.nat()).map(([whole, index]) => {
      const entries = Object.entries(whole);
      return Object.fromEntries(
        entries.filter((_, at) => at !== index % Math.max(1, entries.length)),
      );
    });
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
