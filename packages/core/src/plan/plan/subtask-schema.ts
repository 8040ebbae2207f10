import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonObject, JsonValue } from '../../base/json.ts';

const text = { type: 'string' };

/** JSON Schema of the subtasks that people may give in the place of a plan. */
export const subtasksSchema: JsonObject = Object.freeze({
  type: 'object',
  required: ['subtasks'],
  properties: {
    subtasks: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['id', 'description'],
        properties: {
          id: text,
          description: text,
          dependsOn: { type: 'array', items: text },
          worker: text,
          tool: text,
          args: { type: 'object' },
          expectedOutput: text,
          critical: { type: 'boolean' },
          budget: { type: 'object' },
        },
      },
    },
  },
});

/** A schema that accepts what `problemsOf` finds nothing wrong with. */
export function schemaOf(
  problemsOf: (value: unknown) => Promise<readonly string[]>,
): StandardSchemaV1<unknown, JsonValue> {
  return {
    '~standard': {
      version: 1,
      vendor: 'adjutant',
      validate: async (value) => {
        const problems = await problemsOf(value);
        return problems.length === 0
          ? { value: value as JsonValue }
          : { issues: problems.map((message) => ({ message })) };
      },
    },
  };
}
