import type { StreamEvent } from 'adjutant';
import { type Conversation, withRound, withSteps } from './conversation-state.ts';
import { grown } from './growth.ts';
import { type OpenRound, withPart } from './placed-part.ts';

type Live = Extract<
  StreamEvent,
  { readonly type: 'assistant_delta' | 'thought_delta' | 'tool_args_delta' }
>;

export function streamed(state: Conversation, event: Live): Conversation {
  const { invocationId } = event;
  const round = state.rounds[invocationId];
  if (round?.isAnswering !== true || event.delta === '') return state;
  if (event.type === 'tool_args_delta') return streamedCall(state, round, event);
  const kind = event.type === 'assistant_delta' ? 'text' : 'reasoning';
  const id = `${invocationId}/r${round.round}:${kind}`;
  return withSteps(state, (parts) => {
    const known = parts.find((part) => part.kind === kind && part.id === id);
    const growth = grown(known?.kind === kind ? known.growth : undefined, event.delta);
    if (known === undefined)
      return [
        ...parts,
        {
          kind,
          id,
          text: event.delta,
          isDone: false,
          growth,
          from: invocationId,
          since: round.since,
          sure: '',
        },
      ];
    if (known.kind !== kind || known.order !== undefined) return parts;
    return withPart(parts, { ...known, text: known.text + event.delta, growth });
  });
}

function streamedCall(
  state: Conversation,
  round: OpenRound,
  event: Extract<Live, { type: 'tool_args_delta' }>,
): Conversation {
  const { invocationId, providerCallId, name, delta } = event;
  const known = round.streamedCalls.indexOf(providerCallId);
  const index = known < 0 ? round.streamedCalls.length : known;
  const id = `${invocationId}/r${round.round}.${index}`;
  const counted =
    known < 0
      ? withRound(state, invocationId, {
          ...round,
          streamedCalls: [...round.streamedCalls, providerCallId],
        })
      : state;
  return withSteps(counted, (parts) => {
    const part = parts.find((candidate) => candidate.kind === 'tool' && candidate.id === id);
    const growth = grown(part?.kind === 'tool' ? part.growth : undefined, delta);
    if (part === undefined)
      return [
        ...parts,
        {
          kind: 'tool',
          id,
          name,
          inputText: delta,
          growth,
          from: invocationId,
          since: round.since,
        },
      ];
    if (part.kind !== 'tool' || part.order !== undefined) return parts;
    return withPart(parts, { ...part, inputText: part.inputText + delta, growth });
  });
}
