import type { ActorKind, EventOf, EventType } from '../../ledger/event.ts';

/**
 * The members of an object that are stored by position. The list is part of the file format:
 * members are added at its end and never removed or moved. A member that is not in the list is
 * stored under its name, so a layout is never a limit.
 */
export interface Layout {
  readonly members: readonly string[];
  /** Members that are objects with a layout of their own. */
  readonly nested?: { readonly [member: string]: Layout };
}

interface EventLayout<Type extends EventType> extends Layout {
  /** The number of the type in the file. Never used for another type. */
  readonly code: number;
  readonly members: readonly (keyof EventOf<Type> & string)[];
}

const usage: Layout = {
  members: [
    'inputTokens',
    'outputTokens',
    'cachedInputTokens',
    'cacheWriteTokens',
    'reasoningTokens',
  ],
};

const recipe: Layout = {
  members: ['encoder', 'segments', 'keep', 'resultLimit', 'settings', 'contents'],
};

const result: Layout = {
  members: [
    'status',
    'content',
    'errorType',
    'detail',
    'alternatives',
    'confidence',
    'escalation',
    'escalate',
    'metadata',
  ],
};

export const eventLayouts: { readonly [Type in EventType]: EventLayout<Type> } = {
  user: { code: 1, members: ['text', 'parts', 'clientKey'] },
  assistant: { code: 2, members: ['agent', 'text', 'round', 'output', 'providerMetadata'] },
  thought: { code: 3, members: ['agent', 'text', 'round', 'providerMetadata'] },
  tool_call: {
    code: 4,
    members: [
      'callId',
      'agent',
      'name',
      'args',
      'providerCallId',
      'round',
      'index',
      'invalid',
      'providerMetadata',
    ],
  },
  tool_attempt: { code: 5, members: ['callId', 'attempt', 'key', 'deadline', 'epoch'] },
  tool_result: {
    code: 6,
    members: [
      'callId',
      'name',
      'attempt',
      'result',
      'settled',
      'late',
      'durationMs',
      'retryAfterMs',
      'next',
      'notes',
    ],
    nested: { result },
  },
  tool_yield: {
    code: 7,
    members: [
      'callId',
      'name',
      'args',
      'request',
      'expiresAt',
      'kind',
      'requestId',
      'generation',
      'fingerprint',
      'attempt',
    ],
  },
  tool_input: { code: 8, members: ['callId', 'input', 'requestId', 'decision', 'reason'] },
  state_change: { code: 9, members: ['scope', 'scopeId', 'source', 'changes', 'flush'] },
  invocation_start: {
    code: 10,
    members: [
      'parent',
      'kind',
      'name',
      'version',
      'mode',
      'input',
      'inputHash',
      'branch',
      'deadline',
    ],
  },
  invocation_yield: { code: 11, members: ['reason'] },
  invocation_resume: { code: 12, members: ['deadline'] },
  invocation_end: { code: 13, members: ['status', 'output', 'error', 'stopReason', 'next'] },
  invocation_reopen: { code: 14, members: ['reason'] },
  model_start: {
    code: 15,
    members: [
      'agent',
      'round',
      'attempt',
      'model',
      'recipe',
      'estimatedInputTokens',
      'maxOutputTokens',
    ],
    nested: { recipe },
  },
  model_end: {
    code: 16,
    members: [
      'round',
      'attempt',
      'status',
      'usage',
      'estimated',
      'cost',
      'durationMs',
      'timeToFirstTokenMs',
      'finishReason',
      'error',
      'retryAfterMs',
    ],
    nested: { usage },
  },
  handoff: { code: 17, members: ['from', 'to', 'reason', 'depth'] },
  decision: {
    code: 18,
    members: ['component', 'decision', 'reasoning', 'alternatives', 'data', 'tell'],
  },
  compaction: {
    code: 19,
    members: [
      'covers',
      'overlap',
      'summary',
      'tokensBefore',
      'tokensAfter',
      'dropped',
      'strategy',
      'reason',
    ],
  },
  artifact: { code: 20, members: ['name', 'version', 'mediaType', 'size', 'hash'] },
  error: { code: 21, members: ['error', 'phase'] },
  cancel: { code: 22, members: ['reason'] },
  memory: { code: 23, members: ['text', 'key'] },
  plan: {
    code: 24,
    members: ['revision', 'basedOn', 'goal', 'subtasks', 'diff', 'cancels', 'hash'],
  },
  plan_update: { code: 25, members: ['revision', 'subtask', 'key', 'status', 'error'] },
};

/** The actors without an id; in the file, their place in this list stands for them. */
export const actorKinds: readonly ActorKind[] = [
  'user',
  'model',
  'tool',
  'runtime',
  'operator',
  'trigger',
];
