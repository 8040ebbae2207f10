import type { JsonObject } from '../base/json.ts';
import { type AnySchema, isStandardSchema, jsonSchemaOf } from '../base/schema.ts';
import { InvalidDefinitionError } from './errors.ts';

/** The schema of the data of a runnable, as it is checked and as models are shown it. */
export interface ResolvedInput {
  readonly input: AnySchema | undefined;
  readonly inputSchema: JsonObject | undefined;
}

/** @throws InvalidDefinitionError when no JSON Schema can be made of the schema */
export function resolveInput(
  kind: 'agent' | 'step',
  { name, input }: { readonly name: string; readonly input?: AnySchema | undefined },
): ResolvedInput {
  if (input === undefined) return { input, inputSchema: undefined };
  const converted = jsonSchemaOf(input);
  if ('reason' in converted)
    throw new InvalidDefinitionError({
      kind,
      name,
      reason: `the schema of its \`input\` ${converted.reason}`,
    });
  return {
    input: isStandardSchema(input) ? input : converted.schema,
    inputSchema: converted.schema,
  };
}
