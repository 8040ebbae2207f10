import { isRelease } from '../../base/cancel-scope.ts';
import { AdjutantError } from '../../base/error.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../ledger/event.ts';
import type { ModelAnswer } from '../../models/answer.ts';
import { type EndDraft, orFailedHook, recordFailedHook } from './end-of-agent.ts';
import type { ProcessedAnswer } from './model-answer.ts';
import type { ModelCallPorts, ModelCallRequest } from './ports.ts';

/** Notes for the model behind its cut answer, with and without messages that it does not answer. */
const notes = {
  news:
    'Your answer was cut off here, before it was complete, because a message had come. Newer ' +
    'messages stand before it: answer them now.',
  nothing:
    'Your answer was cut off here, before it was complete. Unless a message below says ' +
    'otherwise, go on from there without saying it again.',
};

/**
 * Records an answer that was cut off. The text so far is kept as what the model said, after the
 * hooks and guardrails of answers; calls of tools in it are not made. Nothing is kept of an answer
 * without text.
 */
export async function recordCut(
  request: ModelCallRequest,
  ports: ModelCallPorts,
  partial: ModelAnswer | undefined,
  ended: EndDraft,
): Promise<void> {
  const said = partial === undefined ? '' : textOf(partial);
  if (partial === undefined || said === '') return void ports.ledger.append([ended]);
  const answer: ModelAnswer = {
    ...partial,
    texts: [{ text: said }],
    // A provider takes back only reasoning that is complete, and calls that have results.
    thoughts: [],
    toolCalls: [],
    finishReason: 'interrupted',
  };
  const processing = ports.processCut?.(answer);
  const processed = processing instanceof Promise ? await orFailedHook(processing) : processing;
  if (processed instanceof AdjutantError) return recordFailedHook(ports, ended, processed);
  if (ports.ledger.failure !== undefined || isRelease(ports.scope.reason)) return;
  const { before = [], decisions = [], extras } = processed ?? {};
  const text = processed === undefined ? said : textOf(processed.answer);
  ports.ledger.append([...before, ...cutDrafts(request, ports, text, decisions), ended], extras);
}

function cutDrafts(
  { path, agent, attempt, round }: ModelCallRequest,
  { hasNews }: ModelCallPorts,
  text: string,
  decisions: ProcessedAnswer['decisions'],
): EventDraft[] {
  const data = { round, attempt, characters: text.length };
  if (text === '') {
    const reasoning = 'The answer was cut off, and hooks or guardrails let nothing of it pass.';
    return [...decisions, decision('models', 'cut', { invocationId: path, reasoning, data })];
  }
  return [
    { type: 'assistant', by: 'model', invocationId: path, agent, round, text, cut: true },
    ...decisions,
    decision('models', 'cut', {
      invocationId: path,
      reasoning: 'The answer was cut off. The text so far is kept, and tool calls in it are not.',
      data,
      tell: hasNews() ? notes.news : notes.nothing,
    }),
  ];
}

function textOf({ texts }: ModelAnswer): string {
  return texts.map(({ text }) => text).join('');
}
