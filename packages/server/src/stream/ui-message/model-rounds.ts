import type { EventOf } from 'adjutant';
import {
  add,
  type Conversation,
  isInsideCall,
  settled,
  textOf,
  withNextAnswer,
  withOpenStep,
  withRound,
  withSteps,
} from './conversation-state.ts';
import type { TextPart } from './part.ts';
import { dropUnsure, type PlacedPart, withPart } from './placed-part.ts';

type PlacedText = Extract<PlacedPart, TextPart>;

export function modelStart(
  state: Conversation,
  { invocationId, round, seq }: EventOf<'model_start'>,
): Conversation {
  if (isInsideCall(invocationId)) return state;
  const isBetweenSteps = Object.keys(state.rounds).length === 0;
  const fresh = isBetweenSteps ? withNextAnswer(state) : state;
  const clean = withSteps(fresh, (parts) => dropUnsure(parts, invocationId));
  const opened = isBetweenSteps ? withOpenStep(clean) : clean;
  return withRound(opened, invocationId, {
    round,
    since: seq,
    isAnswering: true,
    calls: [],
    streamedCalls: [],
  });
}

/** Replaces streamed text by the recorded text, at the latest when all of it is there. */
export function wrote(state: Conversation, event: EventOf<'assistant' | 'thought'>): Conversation {
  const { invocationId = '', seq, round } = event;
  if (isInsideCall(invocationId)) return state;
  // Of a message whose large value is lost only the reference is there.
  const text = textOf(event.text);
  const kind: TextPart['kind'] = event.type === 'assistant' ? 'text' : 'reasoning';
  const open = state.rounds[invocationId];
  if (round === undefined || open?.round !== round) {
    return settled(
      add(state, {
        kind,
        id: `${invocationId}/m${seq}`,
        text,
        isDone: true,
        order: seq,
        from: invocationId,
        sure: text,
      }),
    );
  }
  const id = `${invocationId}/r${round}:${kind}`;
  return withSteps(
    state,
    (parts) => {
      const known = parts.find((part): part is PlacedText => part.kind === kind && part.id === id);
      const part: PlacedText = known ?? { kind, id, text: '', isDone: false, from: invocationId };
      const sure = (part.sure ?? '') + text;
      return withPart(parts, {
        ...part,
        sure,
        text: part.text.startsWith(sure) ? part.text : sure,
        growth: undefined,
        order: part.order ?? seq,
      });
    },
    true,
  );
}

export function called(state: Conversation, event: EventOf<'tool_call'>): Conversation {
  const { callId, invocationId = '', name, args, seq } = event;
  const input = { value: args };
  if (isInsideCall(invocationId))
    return { ...state, hidden: { ...state.hidden, [callId]: { name, input } } };
  const shown = add(state, {
    kind: 'tool',
    id: callId,
    name,
    inputText: '',
    input,
    order: seq,
    from: invocationId,
  });
  const round = state.rounds[invocationId];
  return round === undefined
    ? settled(shown)
    : withRound(shown, invocationId, { ...round, calls: [...round.calls, callId] });
}

export function modelEnd(
  state: Conversation,
  { invocationId, status, retryAfterMs }: EventOf<'model_end'>,
): Conversation {
  const round = state.rounds[invocationId];
  if (round === undefined) return state;
  const sure = withSteps(state, (parts) => closed(dropUnsure(parts, invocationId), invocationId));
  const isRepeated = status === 'error' && retryAfterMs !== undefined;
  return withRound(
    sure,
    invocationId,
    round.calls.length > 0 || isRepeated ? { ...round, isAnswering: false } : undefined,
  );
}

/** Ends the texts of an invocation with their recorded content. */
function closed(parts: readonly PlacedPart[], invocationId: string): readonly PlacedPart[] {
  return parts.map((part) =>
    part.from === invocationId &&
    (part.kind === 'text' || part.kind === 'reasoning') &&
    !part.isDone
      ? { ...part, text: part.sure ?? part.text, growth: undefined, isDone: true }
      : part,
  );
}
