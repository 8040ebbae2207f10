import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Envelope } from './envelope.ts';

export type MessagePart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file';
      readonly artifact: string;
      readonly mediaType: string;
      readonly name?: string;
    };

export interface UserEvent extends Envelope<'user'> {
  readonly text: string;
  readonly parts?: readonly MessagePart[];
  /** Key of an input: an input that is sent twice under one key counts once. */
  readonly clientKey?: string;
  /** Lane that the message is for. @default the default lane, which has no name */
  readonly lane?: string;
  /** Id of the message in whose place prompts show this one. The edit of a fork makes it. */
  readonly replaces?: string;
}

export interface AssistantEvent extends Envelope<'assistant'> {
  readonly agent: string;
  readonly text: string;
  /** Round of the agent that produced the text; missing for text of a step. */
  readonly round?: number;
  readonly output?: JsonValue;
  /** Set when the answer was cut off: the text is as much of it as had come until then. */
  readonly cut?: true;
  readonly providerMetadata?: JsonObject;
}

export interface ThoughtEvent extends Envelope<'thought'> {
  readonly agent: string;
  readonly text: string;
  readonly round: number;
  readonly providerMetadata?: JsonObject;
}
