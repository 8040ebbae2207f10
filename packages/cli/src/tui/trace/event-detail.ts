import type { Event, EventOf, JsonValue, StoredEvent } from 'adjutant';
import { explain } from 'adjutant/views';
import { formatDuration, formatMoment, formatTokens } from '../../output/format.ts';
import { isKnown, unknownText } from '../feed/known-events.ts';
import { lineSpans, type Space } from '../screens/layout.ts';
import { sign } from '../text/signs.ts';
import { type Line, spansOf, splitLines } from '../text/spans.ts';
import { visible } from '../text/visible.ts';
import { cutLine, wrapLine } from '../text/wrap.ts';
import type { TraceIndex } from './trace-index.ts';

/** A fact about an event: its name, and a text of one or several lines. */
export interface EventFact {
  readonly name: string;
  readonly text: string;
}

/** The facts about an event, in the order in which they are read. */
export interface EventDetail {
  readonly title: string;
  /** A sentence that says what happened. */
  readonly sentence: string;
  readonly facts: readonly EventFact[];
}

/** Members that the title and the row tell of every event. */
const told: ReadonlySet<string> = new Set(['v', 'seq', 'id', 'type', 'at', 'agent', 'recipe']);

/** Names of members that people read more easily. */
const labels: Readonly<Record<string, string>> = {
  invocationId: 'path',
  callId: 'call',
  requestId: 'request',
  providerCallId: 'call id',
  durationMs: 'ms',
  fingerprint: 'hash',
  generation: 'question',
  estimatedInputTokens: 'estimate',
  maxOutputTokens: 'at most',
};

/** Returns what there is to know about an event. */
export function eventDetail(index: TraceIndex, place: number, now: number): EventDetail {
  const event = index.event(place);
  if (!isKnown(event)) return unknownDetail(event);
  const when = formatMoment(event.at, now);
  if (event.type === 'decision') return decisionDetail(index, event, when);
  const facts = Object.entries(event).flatMap(([name, value]): EventFact[] =>
    told.has(name) || value === undefined ? [] : [fact(name, value)],
  );
  const { sentence, more } = ofCall(index, place, event);
  return {
    title: `#${event.seq} ${event.type}${nameIn(event)} · ${when}`,
    sentence,
    facts: [...more, ...facts],
  };
}

function unknownDetail(event: StoredEvent): EventDetail {
  const reason = 'reason' in event ? String(event.reason) : `its type is "${event.type}"`;
  const stored = 'stored' in event ? event.stored : (event as object);
  return {
    title: `#${event.seq} ${event.type}`,
    sentence: `${unknownText(event)}.`,
    facts: [
      { name: 'reason', text: reason },
      { name: 'stored', text: JSON.stringify(stored ?? null, undefined, 2) },
    ],
  };
}

function nameIn(event: Event): string {
  if ('name' in event) return ` · ${event.name}`;
  return 'model' in event ? ` · ${event.model}` : '';
}

function fact(name: string, value: unknown): EventFact {
  const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1);
  return { name: labels[name] ?? name, text: text ?? '' };
}

function decisionDetail(index: TraceIndex, event: EventOf<'decision'>, when: string): EventDetail {
  const { component, decision, reasoning, alternatives = [], data = {}, tell, by } = event;
  const { evidence, ...rest } = data;
  const start = index.startOf(event.invocationId);
  const [told] = explain([...(start === undefined ? [] : [start]), event]).filter(
    ({ seq }) => seq === event.seq,
  );
  return {
    title: `#${event.seq} decision · ${component}: ${decision}`,
    sentence: told?.what ?? reasoning,
    facts: [
      { name: 'why', text: reasoning },
      ...(alternatives.length > 0 ? [{ name: 'considered', text: alternatives.join(' · ') }] : []),
      ...(evidence === undefined ? [] : [{ name: 'evidence', text: evidenceText(evidence) }]),
      ...(tell === undefined ? [] : [{ name: 'told', text: `"${tell}"` }]),
      ...Object.entries(rest).flatMap(([name, value]) =>
        value === undefined ? [] : [fact(name, value)],
      ),
      { name: 'by', text: `${by} · ${when}` },
    ],
  };
}

function evidenceText(evidence: JsonValue | undefined): string {
  if (!Array.isArray(evidence)) return JSON.stringify(evidence);
  return evidence
    .map((one) => (typeof one === 'number' ? `#${one}` : JSON.stringify(one)))
    .join(' ');
}

interface OfCall {
  readonly sentence: string;
  readonly more: readonly EventFact[];
}

/** Facts of a call that its end tells: tokens, times and the result. */
function ofCall(index: TraceIndex, place: number, event: Event): OfCall {
  const end = index.endOf(place);
  if (event.type === 'model_start') {
    const { recipe, estimatedInputTokens, maxOutputTokens } = event;
    const estimate = `${formatTokens(estimatedInputTokens)} tok, encoder ${recipe.encoder}`;
    const more = [{ name: 'estimate', text: estimate }];
    if (end?.type !== 'model_end') return { sentence: 'The answer has not come.', more };
    const first = end.timeToFirstTokenMs;
    const cached = end.usage.cachedInputTokens ?? 0;
    const answer = [
      `${formatTokens(end.usage.inputTokens)} in`,
      ...(cached > 0 ? [`${formatTokens(cached)} of them cached`] : []),
      `${formatTokens(end.usage.outputTokens)} out`,
      formatDuration(end.durationMs),
      ...(first === undefined ? [] : [`first token after ${formatDuration(first)}`]),
      end.finishReason ?? end.status,
    ].join(' · ');
    const limit = maxOutputTokens === undefined ? '' : `At most ${maxOutputTokens} tokens out.`;
    return { sentence: limit, more: [...more, { name: 'answer', text: answer }] };
  }
  if (event.type !== 'tool_call' || end?.type !== 'tool_result') return { sentence: '', more: [] };
  const { result, attempt, durationMs } = end;
  const outcome = `${result.errorType ?? result.status} · attempt ${attempt} · `;
  return {
    sentence: '',
    more: [
      { name: 'outcome', text: `${outcome}${formatDuration(durationMs)} · #${end.seq}` },
      fact('result', result.content),
    ],
  };
}

/** Columns of the names of facts, at most. */
const widestName = 12;

/** Returns the lines of a detail, wrapped to the width, and no more of them than are asked for. */
export function detailLines(detail: EventDetail, space: Space, most: number): Line[] {
  const width = Math.max(8, space.columns - 1);
  const ellipsis = sign('ellipsis', space.ascii);
  const lines: Line[] = [cutLine(lineSpans(detail.title, { bold: true }), width, ellipsis)];
  if (detail.sentence !== '') lines.push(...wrapLine(lineSpans(detail.sentence), width));
  for (const { name, text } of detail.facts) {
    if (lines.length >= most) break;
    lines.push(...factLines(name, text, width, most - lines.length, ellipsis));
  }
  return lines.slice(0, most);
}

function factLines(
  name: string,
  text: string,
  width: number,
  most: number,
  ellipsis: string,
): Line[] {
  const label = cutLine(lineSpans(name, { dim: true }), widestName - 1, ellipsis);
  const room = Math.max(4, width - widestName);
  // No more of a long text than can be seen.
  const some = text.slice(0, most * room * 2);
  const shown = splitLines(spansOf(visible(some, 'output').pieces)).slice(0, most);
  const lines = shown.flatMap((line) => wrapLine(line, room));
  const labelWidth = label.reduce((sum, span) => sum + span.text.length, 0);
  return lines.slice(0, most).map((line, at): Line => {
    if (at > 0) return [{ text: ' '.repeat(widestName) }, ...line];
    return [...label, { text: ' '.repeat(Math.max(1, widestName - labelWidth)) }, ...line];
  });
}
