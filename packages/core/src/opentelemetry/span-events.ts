import type { Attributes } from '@opentelemetry/api';
import type { Event } from '../ledger/event.ts';
import { known } from './attributes.ts';

/** Attributes for an event that has no span of its own. */
export interface SpanNote {
  readonly name: string;
  readonly attributes: Attributes;
}

/** @param content true to show reasons and texts, which may quote messages and results */
export function noteOf(event: Event, content: boolean): SpanNote | undefined {
  switch (event.type) {
    case 'decision':
      return note('adjutant.decision', {
        'adjutant.decision.component': event.component,
        'adjutant.decision': event.decision,
        'adjutant.decision.reasoning': content ? event.reasoning : undefined,
      });
    case 'tool_yield':
      return note('adjutant.wait', {
        ...callOf(event),
        'gen_ai.tool.name': event.name,
        'adjutant.request.kind': event.kind,
      });
    case 'tool_input':
      return note('adjutant.answer', {
        ...callOf(event),
        'adjutant.request.decision': event.decision ?? 'answer',
      });
    case 'compaction': {
      const { strategy = 'summary', tokensBefore, tokensAfter } = event;
      return note('adjutant.compaction', {
        'adjutant.compaction.strategy': strategy,
        'adjutant.compaction.tokens_before': tokensBefore,
        'adjutant.compaction.tokens_after': tokensAfter,
      });
    }
    case 'handoff':
      return note('adjutant.handoff', {
        'adjutant.handoff.from': event.from,
        'adjutant.handoff.to': event.to,
      });
    case 'cancel':
      return note('adjutant.cancel', {
        'adjutant.cancel.reason': content ? event.reason : undefined,
      });
    default:
      return undefined;
  }
}

/**
 * A result of no tool that ran here: of a refused call, of another process, or one that came too
 * late.
 */
export function resultNote({
  callId,
  name,
  result,
  late,
}: Extract<Event, { type: 'tool_result' }>): SpanNote {
  return note('adjutant.tool_result', {
    ...callOf({ callId }),
    'gen_ai.tool.name': name,
    'adjutant.status': result.status,
    'error.type': result.errorType,
    'adjutant.late': late,
  });
}

function callOf({ callId }: { readonly callId: string }): Attributes {
  return { 'adjutant.call.id': callId };
}

function note(name: string, attributes: Attributes): SpanNote {
  return { name, attributes: known(attributes) };
}
