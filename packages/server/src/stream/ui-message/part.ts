import type { JsonValue } from 'adjutant';
import type { RequestData, RequestDescription, UiChunk } from './chunk.ts';
import { additionTo, type Growth } from './growth.ts';

/** A text that a model writes, or what it thinks. */
export interface TextPart {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  readonly text: string;
  readonly isDone: boolean;
  /** The pieces of the text, while it is only streamed. */
  readonly growth?: Growth | undefined;
}

/** Leave that is asked for, and what was said. */
export interface ToolApproval {
  readonly id: string;
  readonly description: RequestDescription;
  readonly answer?: { readonly approved: boolean; readonly reason?: string };
}

export type ToolOutcome =
  | { readonly type: 'output'; readonly output: JsonValue }
  | { readonly type: 'error'; readonly text: string }
  | { readonly type: 'denied' };

/** A call of a tool. */
export interface ToolPart {
  readonly kind: 'tool';
  /** Path of the call. */
  readonly id: string;
  readonly name: string;
  /** Streamed part of its arguments. */
  readonly inputText: string;
  /** The pieces of it. */
  readonly growth?: Growth | undefined;
  /** The arguments, once they are known. */
  readonly input?: { readonly value: JsonValue };
  readonly approval?: ToolApproval;
  readonly outcome?: ToolOutcome;
}

/** A question that is no approval. */
export interface RequestPart {
  readonly kind: 'request';
  readonly id: string;
  readonly data: RequestData;
}

/** Message that a person sent to the run while it was under way. */
export interface SteeringPart {
  readonly kind: 'steering';
  readonly id: string;
  readonly text: string;
}

/** Data of the app, such as a chart, that a tool has given with its result. */
export interface DataPart {
  readonly kind: 'data';
  readonly id: string;
  readonly type: `data-${string}`;
  readonly data: JsonValue;
}

export type UiPart = TextPart | ToolPart | RequestPart | SteeringPart | DataPart;

/** Parts between two step starts of a message. */
export interface UiStep {
  readonly parts: readonly UiPart[];
  readonly isDone: boolean;
}

/** Returns the chunks that bring a reader from the steps `before` to the steps `after`. */
export function stepChunks(
  before: readonly UiStep[],
  after: readonly UiStep[],
): readonly UiChunk[] {
  return after.flatMap((step, index) => {
    const known = before[index];
    if (known === step) return [];
    if (known === undefined)
      return [{ type: 'start-step' as const }, ...allChunks(step.parts), ...finished(step)];
    const chunks = partsChunks(known.parts, step.parts) ?? [
      { type: 'reset-step' as const },
      ...allChunks(step.parts),
    ];
    return [...chunks, ...(known.isDone ? [] : finished(step))];
  });
}

/** The chunks that make the parts of a step for a reader who has none of it. */
export function allChunks(parts: readonly UiPart[]): readonly UiChunk[] {
  return parts.flatMap((part) => partChunks(undefined, part) ?? []);
}

function finished({ isDone }: UiStep): readonly UiChunk[] {
  return isDone ? [{ type: 'finish-step' }] : [];
}

/** `undefined`: what the reader has cannot be added to. */
function partsChunks(
  before: readonly UiPart[],
  after: readonly UiPart[],
): readonly UiChunk[] | undefined {
  if (after.length < before.length) return undefined;
  const chunks: UiChunk[] = [];
  for (const [index, part] of after.entries()) {
    const known = before[index];
    if (known === part) continue;
    const added = partChunks(known, part);
    if (added === undefined) return undefined;
    chunks.push(...added);
  }
  return chunks;
}

function partChunks(before: UiPart | undefined, after: UiPart): readonly UiChunk[] | undefined {
  if (before !== undefined && (before.kind !== after.kind || before.id !== after.id))
    return undefined;
  switch (after.kind) {
    case 'text':
    case 'reasoning':
      return textChunks(before as TextPart | undefined, after);
    case 'tool':
      return toolChunks(before as ToolPart | undefined, after);
    case 'request':
      return [{ type: 'data-request', id: after.id, data: after.data }];
    case 'data':
      return [{ type: after.type, id: after.id, data: after.data }];
    case 'steering':
      return before === undefined
        ? [{ type: 'steering-message', id: after.id, parts: [{ type: 'text', text: after.text }] }]
        : [];
  }
}

function textChunks(
  before: TextPart | undefined,
  { kind, id, text, isDone, growth }: TextPart,
): readonly UiChunk[] | undefined {
  const delta = additionTo(before?.growth, growth) ?? behind(before?.text, text);
  if (delta === undefined || (before?.isDone === true && (delta !== '' || !isDone)))
    return undefined;
  return [
    ...(before === undefined ? [{ type: `${kind}-start` as const, id }] : []),
    ...(delta === '' ? [] : [{ type: `${kind}-delta` as const, id, delta }]),
    ...(isDone && before?.isDone !== true ? [{ type: `${kind}-end` as const, id }] : []),
  ];
}

/**
 * Gives the rest of a text behind its known beginning; `undefined`: it does not begin with that.
 */
function behind(known = '', text: string): string | undefined {
  return text.startsWith(known) ? text.slice(known.length) : undefined;
}

function toolChunks(before: ToolPart | undefined, after: ToolPart): readonly UiChunk[] | undefined {
  const input = inputChunks(before, after);
  if (input === undefined) return undefined;
  return [
    ...input,
    ...approvalChunks(before?.approval, after),
    ...(before?.outcome === after.outcome ? [] : outcomeChunks(after)),
  ];
}

function inputChunks(
  before: ToolPart | undefined,
  { id, name, inputText, input, growth }: ToolPart,
): readonly UiChunk[] | undefined {
  const start: readonly UiChunk[] =
    before === undefined ? [{ type: 'tool-input-start', toolCallId: id, toolName: name }] : [];
  if (input !== undefined) {
    return before?.input === input
      ? start
      : [
          ...start,
          { type: 'tool-input-available', toolCallId: id, toolName: name, input: input.value },
        ];
  }
  const inputTextDelta = additionTo(before?.growth, growth) ?? behind(before?.inputText, inputText);
  if (before?.input !== undefined || inputTextDelta === undefined) return undefined;
  return inputTextDelta === ''
    ? start
    : [...start, { type: 'tool-input-delta', toolCallId: id, inputTextDelta }];
}

function approvalChunks(
  before: ToolApproval | undefined,
  { id: toolCallId, approval }: ToolPart,
): readonly UiChunk[] {
  if (approval === undefined || approval === before) return [];
  const { id: approvalId, description, answer } = approval;
  const isKnown = before?.id === approvalId;
  return [
    ...(isKnown
      ? []
      : [
          {
            type: 'tool-approval-request' as const,
            approvalId,
            toolCallId,
            reason: description.summary,
            approvalDescriptor: description,
          },
        ]),
    ...(answer === undefined
      ? []
      : [{ type: 'tool-approval-response' as const, approvalId, ...answer }]),
  ];
}

function outcomeChunks({ id: toolCallId, outcome }: ToolPart): readonly UiChunk[] {
  switch (outcome?.type) {
    case 'output':
      return [{ type: 'tool-output-available', toolCallId, output: outcome.output }];
    case 'error':
      return [{ type: 'tool-output-error', toolCallId, errorText: outcome.text }];
    case 'denied':
      return [{ type: 'tool-output-denied', toolCallId }];
    case undefined:
      return [];
  }
}
