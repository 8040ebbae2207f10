import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject, JsonValue } from '../../../base/json.ts';

/** An argument as the schema of its tool describes it. */
export interface Argument {
  readonly name: string;
  readonly isRequired: boolean;
  /** Types that the schema names; none when it says nothing of them. */
  readonly types: readonly string[];
  readonly schema: JsonObject;
}

export interface OfferedTool {
  readonly name: string;
  readonly arguments: readonly Argument[];
}

/** The tools that the model may call, with their arguments. */
export class OfferedTools {
  readonly list: readonly OfferedTool[];
  readonly #byName: ReadonlyMap<string, OfferedTool>;
  readonly #byLetters = new Map<string, OfferedTool | 'several'>();

  constructor(tools: readonly LanguageModelV4FunctionTool[]) {
    this.list = tools.map(({ name, inputSchema }) => ({
      name,
      arguments: argumentsOf(inputSchema as JsonObject),
    }));
    this.#byName = new Map(this.list.map((tool) => [tool.name, tool]));
    for (const tool of this.list) {
      const letters = lettersOf(tool.name);
      this.#byLetters.set(letters, this.#byLetters.has(letters) ? 'several' : tool);
    }
  }

  /**
   * Finds a tool by the name that a model wrote. A prefix such as `functions.`, other capitals, and
   * `-`, `.` or blanks instead of `_` are accepted when they leave no doubt.
   */
  find(written: string): OfferedTool | undefined {
    const exact = this.#byName.get(written);
    if (exact !== undefined) return exact;
    const name = written.trim().replace(/^(?:functions?|tools?|default_api)[.:]/i, '');
    const similar = this.#byName.get(name) ?? this.#byLetters.get(lettersOf(name));
    return similar === 'several' ? undefined : similar;
  }
}

function lettersOf(name: string): string {
  return name
    .slice(0, 200)
    .toLowerCase()
    .replaceAll(/[\s._-]/g, '');
}

function argumentsOf(schema: JsonObject): readonly Argument[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, described]) => {
    const own = isRecord(described) ? described : {};
    return { name, isRequired: needed.has(name), types: typesOf(own), schema: own };
  });
}

function typesOf({ type, anyOf, oneOf, enum: values }: JsonObject): readonly string[] {
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.map(String);
  if (Array.isArray(values)) return [...new Set(values.map((value) => typeof value))];
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : [];
  return branches.flatMap((branch) => (isRecord(branch) ? typesOf(branch) : []));
}

/**
 * The argument that a value without a name is for: the first one, when the tool has or needs no
 * other. `undefined` when there is doubt, or the value does not fit.
 */
export function onlyArgument(tool: OfferedTool, value: JsonValue): Argument | undefined {
  const [first, ...others] = tool.arguments;
  if (first === undefined || !fitsType(first, value)) return undefined;
  const isOnly = others.length === 0 || (first.isRequired && !others.some((one) => one.isRequired));
  return isOnly ? first : undefined;
}

function fitsType({ types }: Argument, value: JsonValue): boolean {
  if (typeof value === 'number')
    return types.includes('number') || (types.includes('integer') && Number.isInteger(value));
  if (Array.isArray(value)) return types.includes('array');
  return value !== null && types.includes(typeof value);
}

export function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
