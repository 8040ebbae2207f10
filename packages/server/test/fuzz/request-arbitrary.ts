import fc from 'fast-check';
import { hostileTexts, type JsonSchema, SchemaArbitraries } from './schema-arbitrary.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

interface OperationObject {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
}

/** The document of a server. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, JsonSchema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

/** A request that was made up. */
export interface FuzzedRequest {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface FuzzedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly requests: fc.Arbitrary<FuzzedRequest>;
}

/** Milliseconds that a request may be told to wait: a test is to end. */
const longestWaitMs = 50;

/** Of every operation of a document, requests that fit it, and requests that do not quite. */
export function fuzzedOperations(
  document: OpenApiDocument,
  known: Readonly<Record<string, readonly string[]>>,
): readonly FuzzedOperation[] {
  const components = document.components?.schemas ?? {};
  const [honest, hostile] = [false, true].map(
    (isHostile) => new SchemaArbitraries({ components, known, isHostile }),
  );
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const described = { document, known, path, method: method.toUpperCase(), operation };
      const requests = fc.oneof(
        honestRequests(described, honest as SchemaArbitraries),
        hostileRequests(described, hostile as SchemaArbitraries),
      );
      return { operationId: operation.operationId, method: described.method, requests };
    }),
  );
}

interface Described {
  readonly document: OpenApiDocument;
  readonly known: Readonly<Record<string, readonly string[]>>;
  readonly path: string;
  readonly method: string;
  readonly operation: OperationObject;
}

function honestRequests(
  described: Described,
  schemas: SchemaArbitraries,
): fc.Arbitrary<FuzzedRequest> {
  const { known, operation } = described;
  return fc
    .record({
      // The same place in the lists of sessions and runs is the same run.
      place: fc.nat(),
      query: queryOf(described, schemas),
      headers: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        fc.record({ 'idempotency-key': fc.constantFrom('one', 'two') }),
      ),
      body: honestBody(schemas, operation),
    })
    .map(({ place, query, headers, body }) => {
      const idOf = (name: string): string => known[name]?.[place % known[name].length] ?? name;
      return requestOf(described, { idOf, query, headers, body });
    });
}

function hostileRequests(
  described: Described,
  schemas: SchemaArbitraries,
): fc.Arbitrary<FuzzedRequest> {
  const all = Object.values(described.known).flat();
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...all) },
    fc.constantFrom(...hostileTexts),
    fc.string({ unit: 'binary', maxLength: 20 }),
  );
  const unasked = fc.dictionary(
    fc.constantFrom('unknown', 'limit', '__proto__', 'after[]', 'a%00'),
    fc.constantFrom(...hostileTexts),
    {
      maxKeys: 2,
    },
  );
  return fc
    .record({
      ids: fc.array(id, { minLength: 3, maxLength: 3 }),
      query: queryOf(described, schemas),
      more: fc.oneof({ weight: 8, arbitrary: fc.constant({}) }, unasked),
      headers: headersOf(),
      body: hostileBody(schemas, described.operation),
    })
    .map(({ ids, query, more, headers, body }) => {
      let index = 0;
      return requestOf(described, {
        idOf: () => ids[index++ % ids.length] ?? '',
        query: { ...query, ...more },
        headers,
        body,
      });
    });
}

interface RequestParts {
  readonly idOf: (name: string) => string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FuzzedBody | undefined;
}

function requestOf(
  { path, method, operation }: Described,
  { idOf, query, headers, body }: RequestParts,
): FuzzedRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(idOf(name)));
  const search = Object.entries(query).map(
    ([name, value]) => `${encoded(name)}=${encoded(textOf(value))}`,
  );
  const sent = method === 'GET' ? undefined : body;
  return {
    operationId: operation.operationId,
    method,
    path: search.length === 0 ? filled : `${filled}?${search.join('&')}`,
    headers: { ...(sent === undefined ? {} : { 'content-type': sent.type }), ...headers },
    ...(sent === undefined ? {} : { body: sent.content }),
  };
}

function queryOf(
  { document, operation }: Described,
  schemas: SchemaArbitraries,
): fc.Arbitrary<Readonly<Record<string, unknown>>> {
  const shared = document.components?.parameters ?? {};
  const parameters = (operation.parameters ?? []).map((given) =>
    given.$ref === undefined ? given : (shared[given.$ref.split('/').at(-1) ?? ''] ?? {}),
  );
  const asked = parameters.filter((parameter) => parameter.in === 'query');
  const values = Object.fromEntries(
    asked.map(({ name = '', schema = {} }) => [name, queryValue(name, schemas.of(schema, name))]),
  );
  return fc.oneof(fc.constant({}), fc.record(values, { requiredKeys: [] }));
}

/** A text in an address; halves of characters cannot be there. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function queryValue(name: string, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return name === 'wait'
    ? values.map((value) => (Number(textOf(value)) > longestWaitMs ? longestWaitMs : value))
    : values;
}

/** Headers can only have such characters. */
const headerTexts = hostileTexts.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text));

function headersOf(): fc.Arbitrary<Readonly<Record<string, string>>> {
  const text = fc.constantFrom(...headerTexts, 'a-key', 'another-key', '3', '5.1');
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    fc.record(
      {
        'idempotency-key': text,
        'last-event-id': text,
        accept: fc.constantFrom('text/event-stream', 'application/json', '*/*', 'text/html', ''),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        origin: text,
        'sec-fetch-site': fc.constantFrom('cross-site', 'none', 'same-origin'),
        traceparent: text,
        upgrade: fc.constantFrom('websocket', 'h2c'),
      },
      { requiredKeys: [] },
    ),
  );
}

interface FuzzedBody {
  readonly type: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

function honestBody(
  schemas: SchemaArbitraries,
  { requestBody }: OperationObject,
): fc.Arbitrary<FuzzedBody | undefined> {
  const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) =>
    schemas.of(schema).map((value) => ({
      type,
      content: type.includes('json') ? (JSON.stringify(value) ?? '') : formOf(value),
    })),
  );
  return bodies.length === 0 ? fc.constant(undefined) : fc.oneof(...bodies);
}

const oddTypes = [
  ...[
    'application/json',
    'application/json; charset=utf-16',
    'application/merge-patch+json',
    'text/plain',
    '',
  ],
  ...[
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=x',
  ],
];
const oddBodies = [
  ...['', '{', '[', 'null', '"', '{"a":}', '{}', '[]', '0', `{"a":${'['.repeat(5_000)}`],
  ...[
    'decision=approve',
    'decision=approve&decision=reject',
    'decision[]=approve',
    '--x\r\n\r\n--x--',
  ],
];

function hostileBody(
  schemas: SchemaArbitraries,
  operation: OperationObject,
): fc.Arbitrary<FuzzedBody | undefined> {
  const content = fc.oneof(fc.constantFrom(...oddBodies), fc.uint8Array({ maxLength: 30 }));
  const odd = fc.record({ type: fc.constantFrom(...oddTypes), content });
  return fc.oneof({ weight: 3, arbitrary: odd }, fc.constant(undefined), {
    weight: 12,
    arbitrary: honestBody(schemas, operation),
  });
}

function formOf(value: unknown): string {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return new URLSearchParams(
    entries.map(([name, part]): [string, string] => [
      name.toWellFormed(),
      textOf(part).toWellFormed(),
    ]),
  ).toString();
}
