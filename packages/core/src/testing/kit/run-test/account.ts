import type { ErrorRecord } from '../../../base/error.ts';
import type { Event, EventOf } from '../../../ledger/event.ts';
import { inShort } from './describe-step.ts';

const mostLines = 60;

/** An event in one line. */
function eventLine(event: Event): string {
  const where = event.invocationId === undefined ? '' : ` [${event.invocationId}]`;
  const content = contentOf(event);
  return `${event.seq} ${event.type}${where}${content === '' ? '' : `: ${content}`}`;
}

/** Joins the parts that are not `undefined`. */
function joined(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}

function contentOf(event: Event): string {
  switch (event.type) {
    case 'user':
    case 'assistant':
    case 'thought':
    case 'memory':
      return inShort(event.text);
    case 'tool_call':
      return `${event.name}(${inShort(event.args)})`;
    case 'tool_attempt':
      return joined('attempt', String(event.attempt), event.tool && `with ${event.tool}`);
    case 'tool_result':
      return resultText(event);
    case 'tool_yield':
      return `${event.kind} of ${event.name}(${inShort(event.args)})`;
    case 'tool_input':
      return joined(
        event.decision ?? 'answer',
        `by ${event.by}`,
        event.input === undefined ? undefined : inShort(event.input),
      );
    case 'invocation_start':
      return `${event.kind} "${event.name}"`;
    case 'invocation_yield':
      return `waits for ${event.reason}`;
    case 'invocation_end':
      return joined(
        event.status,
        errorText(event.error),
        event.output === undefined ? undefined : inShort(event.output),
      );
    case 'model_start':
      return `"${event.agent}" asks ${event.model}, round ${event.round}`;
    case 'model_end':
      return joined(
        event.status,
        event.error?.code,
        event.retryAfterMs === undefined ? undefined : `(again in ${event.retryAfterMs} ms)`,
      );
    case 'state_change':
      return `${event.scope}: ${event.changes.map(({ key }) => key).join(', ')}`;
    case 'decision':
      return `${event.component}: ${event.decision}`;
    case 'handoff':
      return `from ${event.from} to ${event.to}`;
    case 'error':
      return errorText(event.error) ?? '';
    case 'cancel':
      return joined(`by ${event.by}`, event.reason);
    case 'artifact':
      return event.name;
    case 'plan':
    case 'plan_update':
      return `revision ${event.revision}`;
    case 'compaction':
      return event.strategy ?? 'summary';
    default:
      return '';
  }
}

function resultText({ name, result, settled }: EventOf<'tool_result'>): string {
  const again = settled ? undefined : '(to be tried again)';
  return joined(name, result.status, inShort(result.content), again);
}

function errorText(error: ErrorRecord | undefined): string | undefined {
  return error && `${error.code}: ${error.message}`;
}

/** Lists the events of a test by step: those that followed each step. */
export function accountOf(
  steps: readonly { readonly text: string; readonly after: number }[],
  events: readonly Event[],
): string {
  const lines: string[] = [];
  let next = 0;
  const showUntil = (seq: number): void => {
    while (next < events.length && next < seq)
      lines.push(`    ${eventLine(events[next++] as Event)}`);
  };
  for (const { text, after } of steps) {
    showUntil(after);
    lines.push(`  ${text}`);
  }
  showUntil(events.length);
  const left = lines.length - mostLines;
  return left > 0
    ? [`  … ${left} lines before`, ...lines.slice(left)].join('\n')
    : lines.join('\n');
}
