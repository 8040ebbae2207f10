import type { JsonObject, JsonValue } from 'adjutant';

/** Reason why a message of the AI SDK ended. */
export type UiFinishReason = 'stop' | 'length' | 'tool-calls' | 'other';

/** Chunks of the AI SDK's UI message stream (v1), as far as they are used here. */
export type UiChunk =
  | { readonly type: 'start'; readonly messageId: string }
  | { readonly type: 'start-step' | 'finish-step' | 'reset-step' }
  | {
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
    }
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-start'; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly type: 'tool-input-delta';
      readonly toolCallId: string;
      readonly inputTextDelta: string;
    }
  | {
      readonly type: 'tool-input-available';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: JsonValue;
    }
  | {
      readonly type: 'tool-approval-request';
      readonly approvalId: string;
      readonly toolCallId: string;
      readonly reason: string;
      readonly approvalDescriptor: RequestDescription;
    }
  | {
      readonly type: 'tool-approval-response';
      readonly approvalId: string;
      readonly approved: boolean;
      readonly reason?: string;
    }
  | {
      readonly type: 'tool-output-available';
      readonly toolCallId: string;
      readonly output: JsonValue;
    }
  | { readonly type: 'tool-output-error'; readonly toolCallId: string; readonly errorText: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | { readonly type: 'data-request'; readonly id: string; readonly data: RequestData }
  | { readonly type: 'data-waiting'; readonly id: string; readonly data: WaitingData }
  | {
      readonly type: 'data-tool-progress';
      readonly transient: true;
      readonly data: {
        readonly toolCallId: string;
        readonly toolName: string;
        readonly progress: JsonValue;
      };
    }
  | {
      readonly type: 'steering-message';
      readonly id: string;
      readonly parts: readonly [{ readonly type: 'text'; readonly text: string }];
    }
  | {
      readonly type: `data-${string}`;
      readonly id?: string;
      readonly transient?: true;
      readonly data: JsonValue;
    }
  | { readonly type: 'message-metadata'; readonly messageMetadata: JsonObject }
  | { readonly type: 'finish'; readonly finishReason: UiFinishReason }
  | { readonly type: 'abort'; readonly reason?: string }
  | { readonly type: 'error'; readonly errorText: string };

/** Description of a request for people. */
export interface RequestDescription {
  readonly summary: string;
  readonly options: readonly string[];
  readonly details?: JsonValue;
  readonly inputSchema?: JsonValue;
  /** Actors that may answer. Missing: anybody. */
  readonly mayDecide?: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

/**
 * The data of a `data-waiting` part: the message is answered when these requests are. The answer
 * takes the place of the part.
 */
export interface WaitingData {
  readonly requests: readonly {
    readonly requestId: string;
    readonly kind: string;
    readonly summary: string;
  }[];
}

/** The data of a `data-request` part: a question that the SDK has no part for. */
export interface RequestData extends RequestDescription {
  readonly requestId: string;
  readonly kind: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly status: 'pending' | 'settled';
}
