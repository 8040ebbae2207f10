import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly contentType: string | null;
  readonly body: unknown;
}

interface Content {
  readonly schema?: object;
}

interface DocumentedResponse {
  readonly content?: Readonly<Record<string, Content>>;
}

type Operation = { readonly responses: Readonly<Record<string, DocumentedResponse>> };
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

const checks = new Map<string, ValidateFunction>();

/** The operation that a request goes to; paths without parameters go first. */
function operationOf(
  paths: Paths,
  { method, path }: Answer,
): { readonly name: string; readonly operation: Operation } | undefined {
  const { pathname } = new URL(path, 'http://localhost');
  const fitting = Object.keys(paths)
    .filter((template) =>
      new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(pathname),
    )
    .toSorted((one, other) => one.split('{').length - other.split('{').length);
  for (const template of fitting) {
    const operation = paths[template]?.[method.toLowerCase()];
    if (operation !== undefined) return { name: `${method} ${template}`, operation };
  }
  return undefined;
}

/** Throws when an answer is not one that the document describes. */
export function checkAnswer(document: object, answer: Answer): void {
  const { paths, components } = document as { readonly paths: Paths; readonly components: object };
  const found = operationOf(paths, answer);
  const { status, contentType, body } = answer;
  if (found === undefined) {
    if (status !== 404 && status !== 405)
      throw new Error(`${answer.method} ${answer.path} answered ${status} and is not documented`);
    return;
  }
  const { name, operation } = found;
  const response =
    operation.responses[String(status)] ?? operation.responses[`${Math.floor(status / 100)}XX`];
  if (response === undefined)
    throw new Error(`${name} answered ${status}, which the document does not have`);
  if (contentType === null) {
    if (response.content !== undefined)
      throw new Error(`${name} answered ${status} without a body, and the document has one`);
    return;
  }
  const mediaType = contentType.split(';')[0] ?? '';
  const content = response.content?.[mediaType];
  if (content === undefined)
    throw new Error(
      `${name} answered ${status} with ${mediaType}, which the document does not have`,
    );
  if (!mediaType.includes('json')) return;
  const key = `${name} ${status} ${mediaType}`;
  const check =
    checks.get(key) ?? new Ajv2020({ strict: false }).compile({ ...content.schema, components });
  checks.set(key, check);
  if (!check(body))
    throw new Error(
      `${key} does not fit its schema: ` +
        `${JSON.stringify(check.errors)}\n${JSON.stringify(body).slice(0, 2_000)}`,
    );
}
