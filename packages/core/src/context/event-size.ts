import type { Event } from '../ledger/event.ts';
import { lengthOf } from './message-encoder.ts';

/** Returns the approximate number of characters of an event in a prompt. */
export function eventSize(
  event: Event,
  resultLimit: number,
  resolve: (value: unknown) => unknown,
): number {
  switch (event.type) {
    case 'user':
    case 'thought':
    case 'assistant':
    case 'memory':
      return lengthOf(resolve(event.text));
    case 'invocation_start':
      return lengthOf(resolve(event.input?.message)) + lengthOf(resolve(event.input?.data));
    case 'invocation_end':
      return lengthOf(resolve(event.output));
    case 'tool_call':
      return lengthOf(resolve(event.args));
    case 'tool_result':
      return Math.min(resultLimit, lengthOf(resolve(event.result.content)));
    case 'compaction':
      return lengthOf(resolve(event.summary));
    case 'decision':
      return lengthOf(resolve(event.tell));
    default:
      return 0;
  }
}
