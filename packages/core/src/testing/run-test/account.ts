import type { Event } from '../../ledger/event.ts';
import { inShort } from './describe-step.ts';

const mostLines = 60;

/** An event in one line. */
export function eventLine(event: Event): string {
  const where = event.invocationId === undefined ? '' : ` [${event.invocationId}]`;
  return `${event.seq} ${event.type}${where}${detailOf(event)}`;
}

function detailOf(event: Event): string {
  const detail = detail0(event);
  return detail === '' ? '' : `: ${detail}`;
}

function detail0(event: Event): string {
  switch (event.type) {
    case 'user':
    case 'assistant':
    case 'thought':
    case 'memory':
      return inShort(event.text);
    case 'tool_call':
      return `${event.name}(${inShort(event.args)})`;
    case 'tool_attempt':
      return `attempt ${event.attempt}`;
    case 'tool_result':
      return `${event.name}: ${event.result.status} ${inShort(event.result.content)}${event.settled ? '' : ', to be tried again'}`;
    case 'tool_yield':
      return `${event.kind} of ${event.name}(${inShort(event.args)})`;
    case 'tool_input':
      return `${event.decision ?? 'answer'} by ${event.by}${event.input === undefined ? '' : ` ${inShort(event.input)}`}`;
    case 'invocation_start':
      return `${event.kind} "${event.name}"`;
    case 'invocation_yield':
      return `waits for ${event.reason}`;
    case 'invocation_end':
      return `${event.status}${event.error === undefined ? '' : ` ${event.error.code}: ${event.error.message}`}${event.output === undefined ? '' : ` ${inShort(event.output)}`}`;
    case 'model_start':
      return `"${event.agent}" asks ${event.model}, round ${event.round}`;
    case 'model_end':
      return `${event.status}${event.error === undefined ? '' : ` ${event.error.code}`}${event.retryAfterMs === undefined ? '' : `, again in ${event.retryAfterMs} ms`}`;
    case 'decision':
      return `${event.component}: ${event.decision}`;
    case 'state_change':
      return `${event.scope}: ${event.changes.map(({ key }) => key).join(', ')}`;
    case 'handoff':
      return `from ${event.from} to ${event.to}`;
    case 'error':
      return event.error.code;
    case 'cancel':
      return event.reason ?? '';
    default:
      return '';
  }
}

/** What happened, step by step: the events that each has led to. */
export function accountOf(steps: readonly { readonly text: string; readonly after: number }[], events: readonly Event[]): string {
  const lines: string[] = [];
  let next = 0;
  const showUntil = (seq: number): void => {
    while (next < events.length && next < seq) lines.push(`    ${eventLine(events[next++] as Event)}`);
  };
  for (const { text, after } of steps) {
    showUntil(after);
    lines.push(`  ${text}`);
  }
  showUntil(events.length);
  const left = lines.length - mostLines;
  return left > 0 ? [`  … ${left} lines before`, ...lines.slice(left)].join('\n') : lines.join('\n');
}
