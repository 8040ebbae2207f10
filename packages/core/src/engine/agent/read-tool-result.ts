import { checkOptions } from '../../base/invalid-option.ts';
import { isCount, isNonEmptyText } from '../../base/options.ts';
import { cutPlace } from '../../base/text/cut-text.ts';
import { Visibility } from '../../context/visibility.ts';
import type { EventOf } from '../../ledger/event.ts';
import { parentOf } from '../../ledger/path.ts';
import type { Session } from '../../session/session.ts';
import { toolResult } from '../../tools/result.ts';
import { type Tool, tool } from '../../tools/tool.ts';

export interface ReadToolResultOptions {
  /** Name of the tool. @default 'read_tool_result' */
  readonly name?: string;
  /** Most characters of one reading. @default 20_000 */
  readonly maxCharacters?: number;
}

interface ReadArgs {
  readonly callId: string;
  readonly offset?: number;
  readonly length?: number;
}

const defaultMaxCharacters = 20_000;

function schemaFor(maxCharacters: number) {
  return {
    type: 'object',
    properties: {
      callId: { type: 'string', description: 'The call id that stands behind the mark.' },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'The first character, from 0. Default: 0.',
      },
      length: {
        type: 'integer',
        minimum: 1,
        maximum: maxCharacters,
        description: `How many characters. Default: ${maxCharacters}.`,
      },
    },
    required: ['callId'],
    additionalProperties: false,
  } as const;
}

/**
 * Returns a tool with which a model reads the cut-off part of a tool result. The ledger has the
 * whole result. The tool gives only results that the agent itself sees: its own, and those of
 * earlier invocations in its line.
 * @throws InvalidOptionError
 */
export function readToolResult(options: ReadToolResultOptions = {}): Tool {
  checkOptions<ReadToolResultOptions>('readToolResult', options, {
    name: isNonEmptyText,
    maxCharacters: isCount,
  });
  const { name = 'read_tool_result', maxCharacters = defaultMaxCharacters } = options;
  return tool({
    name,
    description:
      'Reads a part of an earlier tool result that was shortened. Where one was, it says ' +
      '[...truncated] and the call id.',
    schema: schemaFor(maxCharacters),
    readOnly: true,
    recovery: 'rerun',
    execute: (ctx: {
      readonly args: ReadArgs;
      readonly session: unknown;
      readonly invocationId: string;
    }) => {
      const { callId, offset = 0, length = maxCharacters } = ctx.args;
      const whole = wholeResult(ctx.session as Session, ctx.invocationId, callId);
      if (whole === undefined) {
        return toolResult.permanent(
          `There is no result of a call ${JSON.stringify(callId.slice(0, 200))} that you ` +
            'have seen.',
          {
            errorType: 'not_found',
            alternatives: ['use the call id exactly as it stands behind [...truncated]'],
          },
        );
      }
      if (offset >= whole.length)
        return toolResult.permanent(`The result has only ${whole.length} characters.`, {
          errorType: 'not_found',
        });
      const start = cutPlace(whole, offset);
      const end = cutPlace(whole, Math.min(whole.length, offset + Math.min(length, maxCharacters)));
      // A character of two UTF-16 units is given whole, even if only one unit was requested.
      const behind = end > start ? end : start + 2;
      // The note comes before the text, so that it is not cut off with it.
      return (
        `[Characters ${start} to ${behind} of ` + `${whole.length}.]\n${whole.slice(start, behind)}`
      );
    },
  }) as Tool;
}

/**
 * Returns the whole text of the result of a call; `undefined` when the invocation does not see it.
 */
function wholeResult({ ledger }: Session, path: string, callId: string): string | undefined {
  const owner = parentOf(callId);
  const visibility = new Visibility(ledger.invocations, path, 'ancestors');
  const result = ledger.invocations.byPath
    .get(owner)
    ?.events.findLast(
      (event): event is EventOf<'tool_result'> =>
        event.type === 'tool_result' && event.callId === callId && event.settled,
    );
  if (result === undefined || visibility.relation(result) === 'hidden') return undefined;
  const content = ledger.resolve(result.result.content);
  return typeof content === 'string' ? content : JSON.stringify(content);
}
