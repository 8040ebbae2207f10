import type { EventOf } from 'adjutant';
import { isRoot } from '../run-state.ts';
import {
  add,
  type Conversation,
  settled,
  textOf,
  withNextAnswer,
  withOpenStep,
  withRound,
  withSteps,
} from './conversation-state.ts';
import { dropUnsure } from './placed-part.ts';

export function ended(state: Conversation, event: EventOf<'invocation_end'>): Conversation {
  const { invocationId, next } = event;
  const clean = withSteps(state, (parts) => dropUnsure(parts, invocationId));
  const isEnd = isRoot(invocationId) && next === undefined;
  if (!isEnd)
    return invocationId in clean.rounds ? withRound(clean, invocationId, undefined) : clean;
  const over = settled({
    ...withSteps(clean, (parts) => dropUnsure(parts, undefined)),
    rounds: {},
  });
  const last = over.isNextTaken ? withNextAnswer(over) : over;
  return { ...withLastStep(last, event), asked: {}, rest: { type: 'ended', end: event } };
}

/**
 * Adds the output as the answer of a run that wrote no text. Otherwise a last step without calls
 * tells the client that nothing is left to send.
 */
function withLastStep(
  state: Conversation,
  { status, output, seq, invocationId }: EventOf<'invocation_end'>,
): Conversation {
  const steps = state.answer?.steps ?? [];
  if (status !== 'completed') return state;
  const hasText = steps.some(({ parts }) => parts.some(({ kind }) => kind === 'text'));
  if (!hasText && output !== undefined && output !== null) {
    const text = textOf(output);
    return settled(
      add(state, {
        kind: 'text',
        id: `${invocationId}/m${seq}`,
        text,
        isDone: true,
        order: seq,
        from: invocationId,
        sure: text,
      }),
    );
  }
  return steps.at(-1)?.parts.some(({ kind }) => kind === 'tool') === true
    ? settled(withOpenStep(state))
    : state;
}
