import { valueAt } from './validation-issue.ts';

/** Keywords with schemas that hold for the same value. */
const branches = ['allOf', 'anyOf', 'oneOf', 'then', 'else'];

/**
 * Returns the parts of a JSON Schema that may hold for the value at a path: those of all branches
 * and of references inside the schema.
 */
export function schemasAt(root: unknown, segments: readonly PropertyKey[]): readonly object[] {
  let found = expanded(root, [root]);
  for (const segment of segments)
    found = expanded(
      root,
      found.flatMap((schema) => below(schema, segment)),
    );
  return found;
}

function below(schema: object, segment: PropertyKey): unknown[] {
  if (typeof segment !== 'number') {
    const named = valueAt(schema, ['properties', segment]);
    return [named ?? valueAt(schema, ['additionalProperties'])];
  }
  const items = valueAt(schema, ['items']);
  const placed = valueAt(schema, ['prefixItems', segment]) ?? valueAt(schema, ['items', segment]);
  return [placed ?? items];
}

/** The schemas, their branches, and what they refer to; each once. */
function expanded(root: unknown, schemas: readonly unknown[]): object[] {
  const found = new Set<object>();
  const open = [...schemas];
  while (open.length > 0) {
    const schema = open.pop();
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) continue;
    if (found.has(schema)) continue;
    found.add(schema);
    for (const keyword of branches) open.push(...[valueAt(schema, [keyword])].flat());
    open.push(referred(root, valueAt(schema, ['$ref'])));
  }
  return [...found];
}

function referred(root: unknown, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  const pointer = reference.slice(1).split('/').slice(1);
  return valueAt(
    root,
    pointer.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
  );
}
