import type { JsonValue } from '../../base/json.ts';
import type { Event } from '../../ledger/event.ts';
import { toolWireName } from '../../ledger/tool-name.ts';
import type { ModelAnswer } from '../../models/answer.ts';

/**
 * Returns the original answer of a model, rebuilt from the events that recorded it.
 * @param toolName name of a tool for its wire name
 */
export function recordedAnswer(
  events: readonly Event[],
  resolve: (value: unknown) => unknown,
  toolName: (wireName: string) => string,
): ModelAnswer {
  const thoughts: ModelAnswer['thoughts'][number][] = [];
  const texts: ModelAnswer['texts'][number][] = [];
  const toolCalls: ModelAnswer['toolCalls'][number][] = [];
  let end: Pick<ModelAnswer, 'usage' | 'finishReason'> = {
    usage: undefined,
    finishReason: undefined,
  };
  for (const event of events) {
    const metadata =
      'providerMetadata' in event && event.providerMetadata !== undefined
        ? { providerMetadata: event.providerMetadata }
        : {};
    if (event.type === 'thought') thoughts.push({ text: String(resolve(event.text)), ...metadata });
    else if (event.type === 'assistant')
      texts.push({ text: String(resolve(event.text)), ...metadata });
    else if (event.type === 'tool_call') {
      const { providerCallId, name, args, invalid } = event;
      const wireName = toolWireName(name);
      // A tool that there is not was recorded under the very name that the model gave.
      const called = toolName(wireName) === name ? wireName : name;
      const given = { providerCallId, name: called, args: resolve(args) as JsonValue };
      toolCalls.push({ ...given, ...(invalid === undefined ? {} : { invalid }), ...metadata });
    } else if (event.type === 'model_end')
      end = { usage: event.usage, finishReason: event.finishReason };
  }
  return { thoughts, texts, toolCalls, ...end, firstPartAt: undefined };
}
