import { isEffectId } from '../ledger/effect-id.ts';
import type { Event } from '../ledger/event.ts';
import { isLateNews } from '../ledger/late-news.ts';
import { type EncoderOptions, type EncoderVersion, MessageEncoder } from './message-encoder.ts';
import { NotingEncoder } from './noting-encoder.ts';
import { TellingEncoder } from './telling-encoder.ts';

/**
 * Encoder classes by the `encoder` of a recipe. An existing version is never edited: another
 * encoding gets the next number.
 */
const encoders: Readonly<Record<EncoderVersion, typeof MessageEncoder>> = Object.freeze({
  1: MessageEncoder,
  2: NotingEncoder,
  3: TellingEncoder,
});
/** Encoder version of new prompts. */
export const currentEncoder: EncoderVersion = 3;

export function isKnownEncoder(version: number): version is EncoderVersion {
  return Object.hasOwn(encoders, version);
}

export function messageEncoder(options: EncoderOptions): MessageEncoder {
  return new encoders[options.encoder](options);
}

/**
 * True when an event can stand in a prompt at all. Results of effects in bodies are for the bodies,
 * not for models.
 */
export function isPromptEvent(event: Event, encoder: EncoderVersion): boolean {
  switch (event.type) {
    case 'user':
    case 'assistant':
    case 'thought':
    case 'tool_call':
      return true;
    case 'tool_result':
      return event.settled ? !isEffectId(event.callId) : encoder > 1 && isLateNews(event);
    case 'invocation_start':
      // Data that flows between parts is for their code; the models have seen what it was made of.
      if (event.inputFrom !== undefined && event.kind !== 'agent') return false;
      return event.input?.message !== undefined || (encoder > 2 && event.input?.data !== undefined);
    case 'memory':
    case 'compaction':
      return encoder > 2;
    case 'decision':
      return encoder > 2 && event.tell !== undefined;
    default:
      return false;
  }
}
