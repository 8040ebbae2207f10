import { type Event, type EventOf, isSuccess, type JsonValue, type StoredEvent } from 'adjutant';
import { formatCost, formatSize, formatTokens } from '../../output/format.ts';
import type { Tone } from '../feed/block.ts';
import { decisionNote } from '../feed/decision-notes.ts';
import { isKnown, unknownText } from '../feed/known-events.ts';
import type { SignName } from '../text/signs.ts';
import { visibleString } from '../text/visible.ts';
import type { TraceIndex } from './trace-index.ts';

/** An event in one line: its sign, and what it says. The text is not yet made visible. */
export interface EventWords {
  readonly sign: SignName;
  readonly tone: Tone;
  readonly text: string;
  /** True for what is dim: thoughts, and what only the runtime needs. */
  readonly isQuiet?: boolean;
}

/** Longest text of a value in a line. More of it is nowhere seen in one. */
const longestValue = 300;

/** Says an event in one line. */
export function eventWords(index: TraceIndex, place: number): EventWords {
  const event = index.event(place);
  if (!isKnown(event)) return unknownWords(event);
  switch (event.type) {
    case 'user':
      return said('user', event.text);
    case 'assistant':
      return said('note', event.text === '' ? valueText(event.output) : event.text, event.cut);
    case 'thought':
      return { ...said('note', event.text), isQuiet: true };
    case 'model_start':
    case 'model_end':
      return modelWords(event, index, place);
    case 'tool_call':
    case 'tool_attempt':
    case 'tool_result':
    case 'tool_yield':
    case 'tool_input':
      return callWords(event, index, place);
    case 'invocation_start':
    case 'invocation_end':
    case 'invocation_yield':
    case 'invocation_resume':
    case 'invocation_reopen':
      return invocationWords(event, index, place);
    default:
      return otherWords(event);
  }
}

/** Says that an event cannot be shown. */
function unknownWords(event: StoredEvent): EventWords {
  return { sign: 'attention', tone: 'attention', text: unknownText(event) };
}

function said(sign: SignName, text: string, cut?: boolean): EventWords {
  return { sign, tone: 'plain', text: cut === true ? `${text} (cut off)` : text };
}

/** The text of a value, no longer than a line can show. */
function valueText(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > longestValue ? text.slice(0, longestValue) : text;
}

/** The first argument that is a text or a number, else all of them. */
function argumentText(args: JsonValue): string {
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return valueText(args);
  const first = Object.values(args).find((value) => value === null || typeof value !== 'object');
  return valueText(first === undefined && Object.keys(args).length === 0 ? '' : (first ?? args));
}

function modelWords(
  event: EventOf<'model_start'> | EventOf<'model_end'>,
  index: TraceIndex,
  place: number,
): EventWords {
  if (event.type === 'model_end') {
    const { status, error, finishReason = status } = event;
    const text = `model ${error === undefined ? finishReason : `${status}: ${error.message}`}`;
    const isGood = status === 'completed';
    const sign = isGood ? 'done' : status === 'error' ? 'failed' : 'stopped';
    return { sign, tone: isGood ? 'success' : status === 'error' ? 'failure' : 'attention', text };
  }
  const end = index.endOf(place) as EventOf<'model_end'> | undefined;
  const name = event.model.replace(/^[^:]*:/, '');
  const tries = event.attempt > 1 ? `, try ${event.attempt}` : '';
  const head = `${name} r${event.round}${tries}`;
  if (end === undefined) return { sign: 'model', tone: 'attention', text: `${head}  …` };
  const { usage, cost, status, error } = end;
  const used = `${formatTokens(usage.inputTokens)}→${formatTokens(usage.outputTokens)}`;
  const failed = error === undefined ? (status === 'completed' ? '' : `  ${status}`) : '';
  const why = error === undefined ? failed : `  ${error.message}`;
  const tone = status === 'completed' ? 'plain' : status === 'error' ? 'failure' : 'attention';
  return { sign: 'model', tone, text: `${head}  ${used}  ${formatCost(cost)}${why}` };
}

type CallEvent = Extract<Event, { readonly callId: string; readonly type: `tool_${string}` }>;

function callWords(event: CallEvent, index: TraceIndex, place: number): EventWords {
  switch (event.type) {
    case 'tool_call': {
      const end = index.endOf(place) as EventOf<'tool_result'> | undefined;
      const args = argumentText(event.args);
      const text = `${event.name}${args === '' ? '' : ` ${args}`}`;
      if (end === undefined) return { sign: 'waiting', tone: 'attention', text: `${text}  …` };
      const { sign, tone, text: outcome } = resultWords(end);
      return { sign, tone, text: tone === 'success' ? text : `${text}  ${outcome}` };
    }
    case 'tool_attempt':
      return said('again', `attempt ${event.attempt} of ${nameOf(event, index)}`);
    case 'tool_result':
      return resultWords(event);
    case 'tool_yield':
      return { sign: 'asks', tone: 'attention', text: `${event.kind}: ${event.request.summary}` };
    case 'tool_input': {
      const { decision = 'answer', reason } = event;
      const text = `${decision} by ${event.by}${reason === undefined ? '' : `: ${reason}`}`;
      const isNo = decision === 'reject' || decision === 'expire' || decision === 'cancel';
      return { sign: isNo ? 'failed' : 'done', tone: isNo ? 'failure' : 'success', text };
    }
  }
}

function nameOf(event: EventOf<'tool_attempt'>, index: TraceIndex): string {
  return event.tool ?? index.callOf(event.callId)?.name ?? 'a call';
}

function resultWords({ result, settled, late }: EventOf<'tool_result'>): EventWords {
  const { status, errorType, content } = result;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  if (isSuccess(result)) {
    const lines = text.split('\n', 1_001).length;
    const size = lines > 1 && lines < 1_001 ? `${lines} lines` : formatSize(text.length);
    const words = `${status} ${size}${late === true ? ', late' : ''}`;
    return { sign: 'done', tone: 'success', text: words };
  }
  const words = `${errorType ?? status}${settled ? '' : ', to be tried again'}: ${valueText(text)}`;
  if (status === 'unknown') return { sign: 'attention', tone: 'attention', text: words };
  return { sign: 'failed', tone: settled ? 'failure' : 'attention', text: words };
}

type InvocationEvent = Extract<Event, { readonly type: `invocation_${string}` }>;

function invocationWords(event: InvocationEvent, index: TraceIndex, place: number): EventWords {
  switch (event.type) {
    case 'invocation_start': {
      const { mode, name, input } = event;
      const text = input?.message ?? (input?.data === undefined ? '' : valueText(input.data));
      const asked = text === '' ? '' : ` "${text}"`;
      const end = index.endOf(place) as EventOf<'invocation_end'> | undefined;
      const tone = end?.status === 'error' ? 'failure' : 'plain';
      const what = mode === 'root' ? `run of ${name}` : mode;
      return { sign: 'child', tone, text: `${what}${asked}` };
    }
    case 'invocation_end': {
      const { status, error, stopReason } = event;
      const why = error?.message ?? stopReason?.replaceAll('_', ' ');
      const text = `${status}${why === undefined ? '' : `: ${why}`}`;
      if (status === 'error') return { sign: 'failed', tone: 'failure', text };
      const isGood = status !== 'cancelled' && stopReason === undefined;
      return { sign: isGood ? 'done' : 'stopped', tone: isGood ? 'success' : 'attention', text };
    }
    case 'invocation_yield':
      return { sign: 'stopped', tone: 'attention', text: `waits: ${event.reason}` };
    case 'invocation_resume':
      return said('note', 'goes on');
    case 'invocation_reopen':
      return said('note', `opened again: ${event.reason}`);
  }
}

type OtherEvent = Exclude<
  Event,
  | { readonly type: `tool_${string}` }
  | { readonly type: `invocation_${string}` }
  | { readonly type: `model_${string}` }
  | { readonly type: 'user' | 'assistant' | 'thought' }
>;

function otherWords(event: OtherEvent): EventWords {
  switch (event.type) {
    case 'decision': {
      const tone = decisionNote(event)?.tone ?? 'plain';
      const sign = tone === 'plain' ? 'note' : 'attention';
      const subject = valueText(event.data?.['tool']);
      const about = subject === '' ? '' : ` ${subject}`;
      return { sign, tone, text: `${event.component} ${event.decision}${about}` };
    }
    case 'state_change': {
      const { scope, source, changes } = event;
      const prefix = scope === 'session' ? '' : `${scope}: `;
      const changed = changes.map(
        ({ key, oldValue, newValue }) => `${key} ${stateValue(oldValue)} → ${stateValue(newValue)}`,
      );
      const text = changes.length === 0 ? `${scope} ${source}` : changed.join(', ');
      return { sign: 'state', tone: 'plain', text: `${prefix}${text}` };
    }
    case 'handoff': {
      const why = event.reason === undefined ? '' : `: ${event.reason}`;
      return said('arrow', `${event.from} hands over to ${event.to}${why}`);
    }
    case 'compaction': {
      const { strategy = 'summary', tokensBefore, tokensAfter } = event;
      const sizes = `${formatTokens(tokensBefore)} → ${formatTokens(tokensAfter)} tok`;
      return said('note', `older turns, ${strategy}: ${sizes}`);
    }
    case 'memory':
      return said('note', `remembered: ${event.text}`);
    case 'artifact':
      return said('note', `saved ${event.name} v${event.version}, ${formatSize(event.size)}`);
    case 'plan': {
      const { revision, subtasks, diff } = event;
      const dropped = diff.removed.length === 0 ? '' : `, dropped ${diff.removed.join(', ')}`;
      return said('note', `plan, revision ${revision}: ${subtasks.length} subtasks${dropped}`);
    }
    case 'plan_update': {
      const text = `subtask ${event.subtask} cannot start: ${event.error.message}`;
      return { sign: 'failed', tone: 'failure', text };
    }
    case 'error':
      return {
        sign: 'failed',
        tone: 'failure',
        text: `error in ${event.phase}: ${event.error.message}`,
      };
    case 'cancel': {
      const text = `cancelled${event.reason === undefined ? '' : `: ${event.reason}`}`;
      return { sign: 'stopped', tone: 'attention', text };
    }
  }
}

function stateValue(value: unknown): string {
  return value === undefined ? 'nothing' : valueText(JSON.stringify(value));
}

/** Name of the agent, or of the person, that an event is of. */
export function actorOf(index: TraceIndex, event: StoredEvent): string {
  if (!isKnown(event)) return '';
  if (event.type === 'user' || event.type === 'tool_input') return personName(event.by);
  if (event.type === 'invocation_start') return visibleString(event.name, 'proseLine');
  if ('agent' in event) return visibleString(event.agent, 'proseLine');
  const name = index.startOf(event.invocationId)?.name ?? event.by;
  return visibleString(name, 'proseLine');
}

/** The name under which a person or a part of the runtime is shown. */
function personName(by: string): string {
  return by === 'user' || by.startsWith('user:') ? 'you' : visibleString(by, 'proseLine');
}
