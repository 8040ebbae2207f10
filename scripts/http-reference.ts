/** The page docs/reference/http-api.md, made of the OpenAPI document of the server. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly operationId: string;
  readonly 'x-permission': string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Content }>
  >;
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const introduction = `# HTTP API

<!-- Made of the OpenAPI document of the server by \`npm run http-reference\`: change the schemas of the routes, not this page. -->

What [\`@adjutant/server\`](../guide/http-server.md) answers. The same is at \`/v1/openapi.json\` of every server, for clients and tools.

- Bodies are JSON, in both directions. A member that does not exist is refused.
- Times are epoch milliseconds.
- What goes wrong is answered with a \`Problem\` (\`application/problem+json\`, RFC 9457). Switch on its \`code\`: [errors](errors.md).
- A page that is not the last one has a \`cursor\`, which gives the next one.
- Writes take the header \`Idempotency-Key\`: under the same key a request is carried out once, and answered in the same way.
- Everything but what is marked as public needs \`Authorization: Bearer …\` and the permission that is named; a server without \`auth\` takes calls of its own machine only.
- What is out of the caller's reach is not there (404).
`;

/** @param document the OpenAPI document of a server */
export function renderHttpReference(document: object): string {
  const { tags, paths, components } = document as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
  const groups = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    return [
      `## ${name}`,
      description ?? '',
      ...own.map(({ title, operation }) => renderOperation(title, operation)),
    ].join('\n\n');
  });
  const schemas = Object.entries(components.schemas).toSorted(([one], [other]) =>
    one.localeCompare(other, 'en'),
  );
  const types = ['## Types', ...schemas.map(([name, schema]) => renderType(name, schema))].join(
    '\n\n',
  );
  return `${[introduction.trimEnd(), ...groups, types].join('\n\n')}\n`;
}

function renderOperation(title: string, operation: Operation): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const permission = operation['x-permission'];
  const told = parameters.filter(({ $ref }) => $ref === undefined);
  const answers = Object.entries(responses).filter(([status]) => !status.endsWith('XX'));
  return [
    `### ${title}`,
    `${summary}. ${permission === 'public' ? 'Public.' : `Permission \`${permission}\`.`}`,
    ...(description === undefined ? [] : [description]),
    ...(told.length === 0 ? [] : [table(['parameter', 'in', 'type', ''], told.map(parameterRow))]),
    ...(requestBody === undefined
      ? []
      : [
          `Body${requestBody.required === true ? '' : ' (may be left out)'}: ` +
            `${contentText(requestBody.content)}`,
        ]),
    answers
      .map(
        ([status, { description: about, content }]) =>
          `- **${status}** ${about}${content === undefined ? '' : `: ${contentText(content)}`}`,
      )
      .join('\n'),
  ].join('\n\n');
}

function parameterRow({
  name,
  in: place,
  required,
  description,
  schema,
}: Parameter): readonly string[] {
  return [
    `\`${name}\`${required === true && place !== 'path' ? ' (required)' : ''}`,
    place,
    typeOf(schema),
    notes(schema, description),
  ];
}

function contentText(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema }]) =>
      type === 'application/json' && schema !== undefined ? typeOf(schema) : `\`${type}\``,
    )
    .join(' or ');
}

function renderType(name: string, schema: Schema): string {
  const { description, properties, oneOf, anyOf } = schema;
  const about = description === undefined ? [] : [description];
  const choices = oneOf ?? anyOf;
  if (choices !== undefined)
    return [
      `### ${name}`,
      ...about,
      ...choices.map((choice) => membersOf(choice) ?? typeOf(choice)),
    ].join('\n\n');
  const members =
    properties === undefined ? typeOf(schema) : (membersOf(schema) ?? 'An object without members.');
  return [`### ${name}`, ...about, members].join('\n\n');
}

function membersOf({ properties = {}, required = [] }: Schema): string | undefined {
  const rows = Object.entries(properties).map(([name, schema]) => [
    `\`${name}\`${required.includes(name) ? '' : '?'}`,
    typeOf(schema),
    notes(
      schema,
      schema.description ??
        schema.allOf?.find(({ description }) => description !== undefined)?.description,
    ),
  ]);
  return rows.length === 0 ? undefined : table(['member', 'type', ''], rows);
}

function typeOf(schema: Schema): string {
  const {
    $ref,
    type,
    enum: choices,
    const: only,
    items,
    properties,
    additionalProperties,
    oneOf,
    anyOf,
    allOf,
  } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (choices !== undefined)
    return choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(' or ');
  if (allOf?.[0] !== undefined) return typeOf(allOf[0]);
  const alternatives = oneOf ?? anyOf;
  if (alternatives !== undefined) return alternatives.map(typeOf).join(' or ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (properties !== undefined)
    return `object with ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  if (typeof additionalProperties === 'object')
    return Object.keys(additionalProperties).length === 0
      ? 'object'
      : `object of ${typeOf(additionalProperties)}`;
  return type === undefined ? 'any JSON' : [type].flat().join(' or ');
}

/** Notes that the type does not give. */
function notes(schema: Schema, description: string | undefined): string {
  const { default: usual, minimum, maximum, maxLength } = schema;
  const range = [
    ...(minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
  ].join(', ');
  const parts = [
    ...(description === undefined ? [] : [description]),
    ...(range === '' ? [] : [`${range.charAt(0).toUpperCase()}${range.slice(1)}.`]),
    ...(usual === undefined ? [] : [`Default: \`${JSON.stringify(usual)}\`.`]),
  ];
  return parts.join(' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    '| ' +
    `${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} ` +
    '|';
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
