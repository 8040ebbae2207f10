import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { JsonObject } from '../../base/json.ts';

/** A conversation that shows the model how it is done. */
export interface TextExample {
  readonly question: string;
  readonly steps: readonly {
    readonly thought?: string;
    readonly tool: string;
    readonly arguments: JsonObject;
    readonly observation: string;
  }[];
  readonly answer: string;
}

type Tools = readonly LanguageModelV4FunctionTool[];

/**
 * Instructions for calling tools and answering, as part of the system message. It is the same in
 * every round, so that providers can cache it.
 */
export function protocolInstructions(
  tools: Tools,
  responseFormat: LanguageModelV4CallOptions['responseFormat'],
  examples: readonly TextExample[],
): string {
  const parts =
    tools.length === 0
      ? ['When you have the answer, write:\n\nFinal Answer: your answer to the user']
      : [howToCall, describeTools(tools)];
  if (responseFormat?.type === 'json') parts.push(describeFormat(responseFormat.schema));
  if (examples.length > 0) parts.push(['Examples:', ...examples.map(describeExample)].join('\n\n'));
  return parts.join('\n\n');
}

const howToCall = [
  'Work in steps. In each step write either an action or the final answer, in exactly this ' +
    'form:',
  '',
  'Thought: what you think about the next step',
  'Action: {"tool": "name of the tool", "arguments": {"name": "value"}}',
  '',
  'or, when you have the answer:',
  '',
  'Thought: what you think',
  'Final Answer: your answer to the user',
  '',
  'An action is JSON in one line; write several Action lines to call several tools at ' +
    'once. Then stop: the results are given to you as Observation lines. Never write an ' +
    'Observation yourself.',
].join('\n');

function describeTools(tools: Tools): string {
  const lines = tools.map(({ name, description, inputSchema }) => {
    const text = description === undefined || description === '' ? '' : `: ${description}`;
    return `- ${name}${text}\n  Arguments as JSON Schema: ${JSON.stringify(inputSchema)}`;
  });
  return ['Tools:', ...lines].join('\n');
}

function describeFormat(schema: unknown): string {
  const fits =
    schema === undefined ? '' : `, and it must fit this JSON Schema: ${JSON.stringify(schema)}`;
  return `The final answer must be JSON and nothing else${fits}`;
}

function describeExample({ question, steps, answer }: TextExample): string {
  const written = steps.flatMap(({ thought, tool, arguments: args, observation }) => [
    ...(thought === undefined ? [] : [`Thought: ${thought}`]),
    actionLine(tool, args),
    observationLine(tool, observation),
  ]);
  return [`Question: ${question}`, ...written, `Final Answer: ${answer}`].join('\n');
}

export function actionLine(tool: string, args: unknown): string {
  return `Action: ${JSON.stringify({ tool, arguments: args })}`;
}

export function observationLine(tool: string, text: string): string {
  return `Observation (${tool}): ${text}`;
}

/** The request for the next step alone. It changes from round to round and so comes last. */
export function nextStep(
  toolChoice: LanguageModelV4CallOptions['toolChoice'],
  tools: Tools,
  goal: string | undefined,
): string | undefined {
  const parts = goal === undefined ? [] : [`The goal is still: ${goal}`];
  if (tools.length === 0 || toolChoice?.type === 'none') {
    if (goal !== undefined || toolChoice?.type === 'none')
      parts.push('Tools cannot be called now. Write your Final Answer.');
  } else if (toolChoice?.type === 'required')
    parts.push('Write an Action now, not a Final Answer.');
  else if (toolChoice?.type === 'tool')
    parts.push(`Write an Action with the tool "${toolChoice.toolName}" now, not a Final Answer.`);
  return parts.length === 0 ? undefined : parts.join('\n');
}
