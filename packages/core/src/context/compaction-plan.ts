import type { JsonObject } from '../base/json.ts';
import type { Event } from '../ledger/event.ts';
import { isLateNews } from '../ledger/late-news.ts';
import { newestMessages, type PromptUnit, promptUnits } from './prompt-units.ts';

/** Prompt and limits from which a compaction is planned. */
export interface CompactionRequest {
  /** Events of the prompt, in order. */
  readonly events: readonly Event[];
  /** Path of the invocation that the prompt belongs to. */
  readonly path: string;
  /** `seq` at which the run of the invocation began. */
  readonly began: number;
  /** `seq` of the last event that the model has seen. */
  readonly seen: number;
  /** Returns true when a compaction already covers an event, which stays only as its overlap. */
  readonly isCovered: (event: Event) => boolean;
  /** Returns the characters of an event in the prompt. */
  readonly sizeOf: (event: Event) => number;
  /** Maximum number of newest messages that are not covered. */
  readonly keep: number;
  /** Maximum number of characters of the messages that are not covered. */
  readonly room: number;
  /** Number of messages that stay although they are covered. */
  readonly overlap: number;
}

export interface CompactionPlan {
  /** Ids of the newly covered events and of the compactions whose summaries are replaced. */
  readonly covers: readonly string[];
  /** Compactions whose summaries are replaced. */
  readonly replaced: readonly Extract<Event, { type: 'compaction' }>[];
  /** Number of characters that leave the prompt. */
  readonly freed: number;
  /** Number of characters that stay although they are covered. */
  readonly kept: number;
  /** Number of messages that leave the prompt. */
  readonly messages: number;
  /** Counts of the events that leave, by type, and of the tool results among them, by tool. */
  readonly dropped: JsonObject;
}

/**
 * Plans a compaction: everything but the newest messages leaves the prompt, in whole rounds. Events
 * that the model has not seen stay, and so do its task and the message that it answers. Facts,
 * calls without a result and calls with an unknown outcome stay as well.
 * @returns `undefined` when nothing would leave
 */
export function planCompaction(request: CompactionRequest): CompactionPlan | undefined {
  const covered = coveredUnits(request).flatMap(({ events }) => events);
  const stay = new Set(newestMessages(covered, request.overlap));
  const leaving = covered.filter((event) => !stay.has(event));
  if (leaving.every(({ type }) => type === 'compaction')) return undefined;
  return {
    covers: covered.filter((event) => !request.isCovered(event)).map(({ id }) => id),
    replaced: covered.filter((event) => event.type === 'compaction'),
    freed: leaving.reduce((sum, event) => sum + request.sizeOf(event), 0),
    kept: [...stay].reduce((sum, event) => sum + request.sizeOf(event), 0),
    messages: promptUnits(leaving.filter(({ type }) => type !== 'compaction')).reduce(
      (sum, { messages }) => sum + messages,
      0,
    ),
    dropped: auditOf(leaving),
  };
}

function coveredUnits(request: CompactionRequest): readonly PromptUnit[] {
  const { events, sizeOf } = request;
  const units = promptUnits(events);
  const mayLeave = leaveRule(request);
  const movable = units.filter(mayLeave);
  const sizeOfUnit = (unit: PromptUnit): number =>
    unit.events.reduce((sum, event) => sum + sizeOf(event), 0);
  let room = request.room;
  for (const unit of units) if (!mayLeave(unit)) room -= sizeOfUnit(unit);
  let { keep } = request;
  let first = movable.length;
  while (first > 0) {
    const unit = movable[first - 1] as PromptUnit;
    keep -= unit.messages;
    if (keep < 0) break;
    room -= sizeOfUnit(unit);
    if (room < 0) break;
    first--;
  }
  return movable.slice(0, first);
}

function leaveRule({
  events,
  path,
  began,
  seen,
}: CompactionRequest): (unit: PromptUnit) => boolean {
  const task = taskOf(events, path, began);
  const question = events.findLast(({ type }) => type === 'user');
  const resolved = new Set<string>();
  for (const event of events)
    if (event.type === 'tool_result' && isLateNews(event)) resolved.add(event.callId);
  const mustStay = (event: Event): boolean => {
    switch (event.type) {
      case 'compaction':
        return false;
      case 'memory':
        return true;
      case 'invocation_start':
        return event.invocationId === path || event.seq > seen;
      case 'tool_result':
        return (
          event.seq > seen ||
          (event.settled && event.result.status === 'unknown' && !resolved.has(event.callId))
        );
      default:
        return event === task || event === question || event.seq > seen;
    }
  };
  return (unit) => !unit.events.some(mustStay) && isSettled(unit);
}

/** Returns the message that started the run; later messages refer to it. */
function taskOf(events: readonly Event[], path: string, began: number): Event | undefined {
  const [root] = path.split('/');
  const first = events.find(({ type, invocationId }) => type === 'user' && invocationId === root);
  return first ?? events.findLast(({ type, seq }) => type === 'user' && seq < began);
}

function isSettled({ events }: PromptUnit): boolean {
  const settled = new Set<string>();
  for (const event of events)
    if (event.type === 'tool_result' && event.settled) settled.add(event.callId);
  return events.every((event) => event.type !== 'tool_call' || settled.has(event.callId));
}

function auditOf(events: readonly Event[]): JsonObject {
  const kinds: Record<string, number> = {};
  const tools: Record<string, number> = {};
  for (const event of events) {
    kinds[event.type] = (kinds[event.type] ?? 0) + 1;
    if (event.type === 'tool_result') tools[event.name] = (tools[event.name] ?? 0) + 1;
  }
  return { ...kinds, ...(Object.keys(tools).length === 0 ? {} : { tools }) };
}
