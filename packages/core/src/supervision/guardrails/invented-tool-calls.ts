import { toolWireName } from '../../ledger/tool-name.ts';
import type { Guardrail } from '../guardrail.ts';
import { searchedCharacters } from './texts.ts';

// Not in backticks: an answer about such marks is no call.
const markup = new RegExp(
  [
    '(?<!`)(?:<\\|?tool_calls?\\|?>|<function_calls?>|<function=[\\w.-]{1,64}>',
    '<invoke name=|\\[TOOL_CALLS\\]|<｜tool▁calls?▁begin｜>)|```tool_code\\b',
  ].join('|'),
  'u',
);
const namedCall = /"(?:name|tool|tool_name|function|action)"\s{0,20}:\s{0,20}"([\w.-]{1,64})"/gu;
const givenArguments = /"(?:arguments|args|parameters|input|tool_input|action_input)"\s{0,20}:/u;
const action = /^\s{0,3}Action:\s{0,10}`?([\w.-]{1,64})`?\s{0,10}$\s{0,5}^\s{0,3}Action Input:/gmu;
/** The greatest distance between the name and the arguments of a call. */
const reach = 2_000;
const mostCandidates = 50;

const told =
  'Your answer has a tool call written as text, which calls nothing. If you want to call a ' +
  'tool, make a real call; otherwise answer again without it.';

/**
 * Finds answers in which a tool call is written as text instead of being made, and has the model
 * try again.
 */
export function inventedToolCalls(): Guardrail {
  return Object.freeze({
    name: 'inventedToolCalls',
    output: ({ text, tools }: { readonly text: string; readonly tools: readonly string[] }) => {
      const found = findCall(
        text.length > searchedCharacters ? text.slice(0, searchedCharacters) : text,
        tools,
      );
      return found === undefined
        ? undefined
        : {
            action: 'guide' as const,
            message: told,
            reasoning: `The answer has ${found} written as text, and no call was made.`,
          };
    },
  });
}

function findCall(text: string, tools: readonly string[]): string | undefined {
  if (
    (text.includes('<') || text.includes('[TOOL_CALLS]') || text.includes('```tool_code')) &&
    markup.test(text)
  )
    return 'the markup of a tool call';
  if (tools.length === 0) return undefined;
  if (text.includes('{')) {
    for (const [index, name] of namesIn(text, namedCall)) {
      const isCall = givenArguments.test(text.slice(Math.max(0, index - reach), index + reach));
      if (isCall && isTool(name, tools)) return `a call of "${name}"`;
    }
  }
  if (text.includes('Action Input:')) {
    for (const [, name] of namesIn(text, action))
      if (isTool(name, tools)) return `a call of "${name}"`;
  }
  return undefined;
}

function* namesIn(text: string, pattern: RegExp): Generator<readonly [number, string]> {
  let candidates = 0;
  for (const match of text.matchAll(pattern)) {
    yield [match.index, match[1] ?? ''];
    if (++candidates === mostCandidates) return;
  }
}

function isTool(name: string, tools: readonly string[]): boolean {
  return tools.some((tool) => tool === name || toolWireName(tool) === name);
}
