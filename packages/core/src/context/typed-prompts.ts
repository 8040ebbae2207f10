import { AdjutantError } from '../base/error.ts';
import { InvalidOptionError } from '../base/invalid-option.ts';
import { describeValue, isObject } from '../base/options.ts';
import type { RenderState } from '../runnables/render-context.ts';
import type { StateSchema, StateValuesOf } from '../session/state-types.ts';

/**
 * View of typed prompts: that of renderers, with the state typed by its schema. Values that were
 * never written are `undefined`.
 */
export interface PromptView<Schema extends StateSchema> extends Omit<RenderState, 'state'> {
  readonly state: StateValuesOf<Schema>;
  readonly schema: Schema;
}

function viewOf<Schema extends StateSchema>(
  schema: Schema,
  context: RenderState,
): PromptView<Schema> {
  const { agent, invocationId, round, startedAt, usage } = context;
  const { session, ...shared } = context.state;
  return {
    agent,
    invocationId,
    round,
    startedAt,
    usage,
    schema,
    state: { ...session, ...shared } as StateValuesOf<Schema>,
  };
}

/**
 * Returns a text that depends on the state, for `injectSystemMessage` and `injectUserMessage`. The
 * schema types the state, as in steps and tools (`ctx.state.mood`, `ctx.state.user.name`). The text
 * is made anew for each prompt and must depend on nothing else, unless it is awaited.
 */
export function message<Schema extends StateSchema, Text extends string | Promise<string>>(
  schema: Schema,
  write: (context: PromptView<Schema>) => Text,
): (context: RenderState) => Text {
  checkTyped('message', schema, write);
  return (context) => write(viewOf(schema, context));
}

/**
 * Returns a text like `message`, for `enrichUserMessages`: `ctx.message` is the text of the user.
 */
export function enrichment<Schema extends StateSchema>(
  schema: Schema,
  write: (context: PromptView<Schema> & { readonly message: string }) => string,
): (context: RenderState & { readonly message: string }) => string {
  checkTyped('enrichment', schema, write);
  return (context) => write({ ...viewOf(schema, context), message: context.message });
}

function checkTyped(name: string, schema: unknown, write: unknown): void {
  const wrong = isObject(schema);
  if (wrong !== undefined)
    throw new InvalidOptionError({
      function: name,
      reason: `the schema of the state must be ${wrong}, not ${describeValue(schema)}`,
    });
  if (typeof write !== 'function')
    throw new InvalidOptionError({
      function: name,
      reason: `after the schema comes a function, not ${describeValue(write)}`,
    });
}

/** Error when a placeholder of a template stands for a value that is not in the state. */
export class PromptTemplateError extends AdjutantError {
  constructor(data: { placeholder: string }) {
    const { placeholder } = data;
    super(
      'prompt_template',
      `The state has no value for {${placeholder}}. Write it before the agent runs, or ` +
        `{${placeholder}?} where it may be missing.`,
      data,
    );
  }
}

const placeholders = /\{([A-Za-z_][\w-]{0,127}):([A-Za-z_][\w.-]{0,127})(\?)?\}/g;

/**
 * Returns instructions with values of the state: `{session:mood}`, `{user:name}`. With `?`
 * (`{user:name?}`) a missing value leaves an empty place. A value that is not a text is written as
 * JSON. Other braces stay as they are, and so do braces within values.
 * @throws InvalidOptionError when `text` is not a string
 * @throws PromptTemplateError when the prompt is made and a value without `?` is missing
 */
export function template(text: string): (context: RenderState) => string {
  if (typeof text !== 'string')
    throw new InvalidOptionError({
      function: 'template',
      reason: `the text must be a string, not ${describeValue(text)}`,
    });
  return ({ state }) =>
    text.replace(
      placeholders,
      (_whole, scope: string, key: string, optional: string | undefined) => {
        const values = Object.hasOwn(state, scope) ? state[scope] : undefined;
        const value = values !== undefined && Object.hasOwn(values, key) ? values[key] : undefined;
        if (value === undefined && optional === undefined)
          throw new PromptTemplateError({ placeholder: `${scope}:${key}` });
        if (value === undefined) return '';
        return typeof value === 'string' ? value : JSON.stringify(value);
      },
    );
}
