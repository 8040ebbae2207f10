import { defined } from '../../base/defined.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { spokenMessages } from '../../conversation/conversation-ledger.ts';
import type { Event, EventOf, Usage } from '../../ledger/event.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { visibleValues } from '../../ledger/folds/state-fold.ts';
import { isRoot } from '../../ledger/path.ts';
import { type RunReport, runReport } from '../../ledger/run-report.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { Session } from '../../session/session.ts';
import type { EvalCase } from '../dataset/eval-case.ts';
import type { TrialStatus } from '../report.ts';
import type { TrialRecord, TrialToolCall, TrialTurn } from '../scorers/scorer.ts';

export interface TrialEnding {
  readonly status: TrialStatus;
  readonly error?: ErrorRecord;
}

interface RecordOf extends TrialEnding {
  readonly case: EvalCase;
  readonly variant: string;
  readonly trial: number;
}

/** Returns the record of a trial, read from its ledger. */
export function trialRecord(session: Session, of: RecordOf): TrialRecord {
  const { ledger } = session;
  const turns = turnsOf(session, of.case);
  const roots = ledger.invocations.roots.filter(
    (path) => ledger.invocations.byPath.get(path)?.mode === 'root',
  );
  const reports = roots.map((path) => runReport(ledger.events, path, ledger.resolve));
  const costs = reports.flatMap(({ cost }) => cost ?? []);
  return {
    ...of,
    turns,
    answer: turns.at(-1)?.answer ?? '',
    output: turns.at(-1)?.output,
    toolCalls: turns.flatMap(({ toolCalls }) => toolCalls),
    state: stateOf(session),
    durationMs: activeMs(ledger.events),
    ...(costs.length === 0 ? {} : { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
    usage: usageOf(reports),
    steps: reports.reduce((sum, { rounds }) => sum + rounds, 0),
    session,
  };
}

function usageOf(reports: readonly RunReport[]): Usage {
  const sum = (count: (usage: Usage) => number | undefined): number =>
    reports.reduce((total, { usage }) => total + (count(usage) ?? 0), 0);
  const [cached, reasoning] = [
    sum(({ cachedInputTokens }) => cachedInputTokens),
    sum(({ reasoningTokens }) => reasoningTokens),
  ];
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  };
}

function stateOf({ ledger }: Session): JsonObject {
  return Object.fromEntries(
    Object.entries(visibleValues(ledger.state, 'session')).map(([key, value]) => [
      key,
      ledger.resolve(value) as JsonValue,
    ]),
  );
}

/** Each message of the user, with what came of it up to the next. */
function turnsOf(session: Session, { turns }: EvalCase): readonly TrialTurn[] {
  const { events } = session;
  const messages = events.filter((event): event is EventOf<'user'> => event.type === 'user');
  const texts = textsByMessage(session);
  return messages.map((message, i) => {
    const upTo = messages[i + 1]?.seq ?? Number.POSITIVE_INFINITY;
    const own = events.slice(message.seq - 1).filter(({ seq }) => seq < upTo);
    const said = texts[i] ?? [];
    return {
      user: String(session.ledger.resolve(message.text)),
      texts: said,
      answer: said.at(-1) ?? '',
      output: outputOf(session, own),
      toolCalls: toolCallsOf(session, own),
      expect: turns[i]?.expect ?? {},
    };
  });
}

function textsByMessage(session: Session): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const { role, text } of spokenMessages(session)) {
    if (role === 'user') groups.push([]);
    else groups.at(-1)?.push(text);
  }
  return groups;
}

/** Returns the output of the last root that ended in this turn. */
function outputOf({ ledger }: Session, events: readonly Event[]): JsonValue | undefined {
  const root = events.findLast(
    (event) => event.type === 'invocation_start' && event.mode === 'root',
  );
  const record =
    root?.invocationId === undefined
      ? undefined
      : lastRecord(ledger.invocations, root.invocationId);
  return record?.output === undefined ? undefined : (ledger.resolve(record.output) as JsonValue);
}

function toolCallsOf({ ledger }: Session, events: readonly Event[]): readonly TrialToolCall[] {
  const results = new Map(
    ledger.events.flatMap((event) =>
      event.type === 'tool_result' && event.settled ? [[event.callId, event] as const] : [],
    ),
  );
  return events.flatMap((event): readonly TrialToolCall[] => {
    if (event.type !== 'tool_call') return [];
    const settled = results.get(event.callId);
    const result =
      settled &&
      ({ ...settled.result, content: ledger.resolve(settled.result.content) } as ToolResult);
    const args = ledger.resolve(settled?.editedArgs ?? event.args) as JsonValue;
    return [
      {
        callId: event.callId,
        agent: event.agent,
        name: event.name,
        args,
        ...defined({ result }),
      },
    ];
  });
}

/**
 * Milliseconds in which runs were under way: not between runs, not while they waited for somebody,
 * and not while nobody carried them on.
 */
export function activeMs(events: readonly Event[]): number {
  let active = 0;
  let before: Event | undefined;
  for (const event of events) {
    if (event.invocationId === undefined) continue;
    const isRest =
      event.type === 'invocation_resume' ||
      (event.type === 'user' && isBetweenRuns(before)) ||
      before?.type === 'invocation_yield';
    if (before !== undefined && !isRest) active += event.at - before.at;
    before = event;
  }
  return active;
}

function isBetweenRuns(before: Event | undefined): boolean {
  return before?.type === 'invocation_end' && isRoot(before.invocationId);
}
