import type { Event, Runtime, Session, StoredEvent } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { planViews } from 'adjutant/plan';
import { defined, nearestName, visibleJson } from 'adjutant/text';
import {
  explain,
  type Failure,
  failures,
  matchingEvents,
  runMermaid,
  runTree,
  storedEventTypes,
  transcript,
  validateResumeState,
} from 'adjutant/views';
import type { SessionView, ShownContext } from '../access/app-access.ts';
import { openAccess } from '../access/open-access.ts';
import type { ServerFlags } from '../access/server-flags.ts';
import { laneOf, lanesOf, openRunOf } from '../app/open-run.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host/host.ts';
import type { SourceOptions } from '../modules/ledger-source.ts';
import { decisionLines, failureLines } from '../output/decision-lines.ts';
import { eventLine } from '../output/event-line.ts';
import { formatCount, formatTime } from '../output/format.ts';
import { jsonLine } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import { planLines } from '../output/plans/plan-lines.ts';
import { type Style, styleFor } from '../output/style.ts';
import { transcriptText } from '../output/transcript-text.ts';
import { treeLines } from '../output/tree-lines.ts';
import { askedBy, waitingLines } from '../output/waiting.ts';
import { commandText, type RunContext } from './carry-out.ts';

export interface ShowOptions extends SourceOptions, ServerFlags {
  readonly events?: boolean;
  readonly transcript?: boolean;
  readonly tree?: boolean;
  readonly mermaid?: boolean;
  /** True when decisions are shown, each on one line. */
  readonly decisions?: boolean;
  /** True when failures and escalations are shown, each on one line. */
  readonly failures?: boolean;
  /** True when plans are shown, each subtask on one line. */
  readonly plan?: boolean;
  /** Last event that is shown, as its `seq`. Later events are left out. */
  readonly at?: number;
  /** Number of the model call whose prompt is shown, from 1. */
  readonly prompt?: number;
  /** True when events are shown as they come, until the open run has ended. */
  readonly follow?: boolean;
  /** Types of the events that are shown. @default all */
  readonly type?: readonly string[];
  /** Agent whose events are shown. @default all */
  readonly agent?: string;
  /** First time of the events that are shown, and the first that is too late. */
  readonly from?: number;
  readonly to?: number;
  /** Part of the JSON text of the events that are shown. */
  readonly text?: string;
  readonly json?: boolean;
}

/**
 * `adjutant show [session]`: reads a ledger and writes nothing to it. It also works while another
 * process runs the session.
 */
export async function showSession(
  { host, interruption }: Pick<RunContext, 'host' | 'interruption'>,
  id: string | undefined,
  options: ShowOptions,
): Promise<number> {
  const style = styleFor(host.stdout);
  if (options.follow === true) {
    const access = await openAccess(host, options);
    const onEvent = (event: Event): void => {
      host.stdout.write(options.json === true ? jsonLine(event) : `${eventLine(style, event)}\n`);
    };
    return access.follow({ interruption, onEvent }, id);
  }
  return lookAt(host, id, options, async (session, around) => {
    const waiting = await waitingText(around, session, { ...options, ...around.place }, style);
    return `${render(session, options, style)}${waiting}`;
  });
}

/** Writes a session as text, by default the newest one. */
export async function lookAt(
  host: Host,
  id: string | undefined,
  options: ShowOptions,
  text: SessionView['text'],
): Promise<number> {
  const access = await openAccess(host, options);
  // Events of a session that cannot be opened can still be shown.
  const unreadable =
    options.events === true
      ? (app: Runtime, name: string) => storedEvents(app, name, options, styleFor(host.stdout))
      : undefined;
  host.stdout.write(await access.show(id, { text, unreadable }));
  return exitCodes.ok;
}

/**
 * Returns the events of a session that cannot be opened. A mark replaces each event that cannot be
 * read.
 */
async function storedEvents(
  app: Runtime,
  name: string,
  options: ShowOptions,
  style: Style,
): Promise<string> {
  const { at, json = false } = options;
  const head = plainLine(`${name} · cannot be opened: some of its events cannot be read`);
  const events: StoredEvent[] = [];
  for await (const event of app.sessions.events(name, defined({ upTo: at }))) events.push(event);
  const shown = chosenEvents(events, options);
  if (json) return shown.map(jsonLine).join('');
  return lines([style.bold(head), ...shown.map((event) => eventLine(style, event))]);
}

/** Returns the events of a ledger that are to be shown. */
function chosenEvents<Stored extends StoredEvent>(
  events: readonly Stored[],
  { type, agent, from, to, text }: ShowOptions,
): readonly Stored[] {
  return matchingEvents(events, { types: type?.map(eventType), agent, from, to, text });
}

/** Returns the type of events with this name. @throws UsageError when there is none */
function eventType(name: string): StoredEvent['type'] {
  const found = storedEventTypes.find((type) => type === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, storedEventTypes);
  const hint =
    nearest === undefined ? `there are ${storedEventTypes.join(', ')}` : `did you mean ${nearest}?`;
  throw new UsageError({ reason: `--type: there are no events of the type "${name}" (${hint}).` });
}

function render(session: Session, options: ShowOptions, style: Style): string {
  const { resolve } = session;
  const { json = false } = options;
  const events = firstEvents(session, options.at);
  if (options.prompt !== undefined) return promptText(events, options.prompt, resolve, json);
  if (options.mermaid) return `${runMermaid(events)}\n`;
  const upTo = events.length;
  if (json) return itemsOf(session, options, events).map(jsonLine).join('');
  const head = headOf(style, session, upTo);
  if (options.decisions) return lines([head, ...decisionLines(style, explain(session, { upTo }))]);
  if (options.failures) return lines([head, ...failureLines(style, failuresUpTo(session, upTo))]);
  if (options.plan) return lines([head, ...planLines(style, planViews(session, { at: upTo }))]);
  if (options.events) {
    const shown = chosenEvents(events, options);
    return lines([head, ...shown.map((event) => eventLine(style, event))]);
  }
  if (options.tree) return lines([head, ...treeLines(style, runTree(events))]);
  return lines([head, '', ...transcriptText(style, transcript(events, resolve))]);
}

function itemsOf(
  session: Session,
  options: ShowOptions,
  events: Session['events'],
): readonly object[] {
  if (options.decisions) return explain(session, { upTo: events.length });
  if (options.failures) return failuresUpTo(session, events.length);
  if (options.plan) return planViews(session, { at: events.length });
  if (options.events) return chosenEvents(events, options);
  return options.tree ? runTree(events) : transcript(events, session.resolve);
}

function failuresUpTo(session: Session, upTo: number): readonly Failure[] {
  return failures(session).filter(({ seq }) => seq <= upTo);
}

/** Returns the events up to the one with the seq `at`. @throws UsageError when there are fewer */
export function firstEvents(
  session: Session,
  at: number = session.events.length,
): Session['events'] {
  if (at > session.events.length) {
    throw new UsageError({
      reason:
        `--at ${at}: session "${session.id}" has only ` +
        `${formatCount(session.events.length, 'event')}.`,
    });
  }
  return session.events.slice(0, at);
}

/** First line about a session of which only the first `at` events are shown. */
export function headOf(style: Style, session: Session, at: number): string {
  return style.bold(`${session.id} · ${headline(session, at)}`);
}

/** Requests and messages that each lane of the session waits for, shown below its events. */
async function waitingText(
  { pending, isHere }: ShownContext,
  session: Session,
  options: ShowOptions,
  style: Style,
): Promise<string> {
  const isNow = options.at === undefined || options.at === session.events.length;
  if (!isNow || options.json === true || options.mermaid === true || options.prompt !== undefined)
    return '';
  const { events, pendingYieldingCalls: calls } = session;
  const open = calls.length === 0 ? new Set() : await pending();
  const text = lanesOf(session).flatMap((lane) => {
    const run = openRunOf(session, lane);
    if (run === undefined) return [];
    const { awaitingInput, sleepsUntil } = validateResumeState(events, defined({ lane }));
    const waiting = {
      requests: calls
        .filter(({ invocationId }) => laneOf(events, invocationId) === lane)
        .map((call) => ({ ...askedBy(call), accepted: !open.has(call.requestId) })),
      message: awaitingInput.length > 0,
      sleepsUntil,
      session: session.id,
      lane,
      elsewhere: isHere(run) ? undefined : run,
    };
    return waitingLines(style, waiting, commandText(options));
  });
  return text.length === 0 ? '' : lines(text);
}

function headline(session: Session, at: number): string {
  const { events } = session;
  const count =
    at === events.length
      ? formatCount(at, 'event')
      : `the first ${at} of ${formatCount(events.length, 'event')}`;
  const last = events.at(-1);
  return plainLine(
    `${session.status.replace('_', ' ')} · ` +
      `${count}${last === undefined ? '' : ` · last on ${formatTime(last.at)}`}`,
  );
}

/** Returns the error of a model call that there is not. */
export function noSuchCall(number: number, count: number): UsageError {
  const are = `there are ${formatCount(count, 'model call')}`;
  return new UsageError({ reason: `There is no model call ${number}: ${are}.` });
}

/** Returns a prompt as JSON. JSON escapes every control character, so it needs no cleaning. */
export function promptText(
  events: Session['events'],
  number: number,
  resolve: (value: unknown) => unknown,
  isCompact: boolean,
): string {
  const calls = events.filter((event) => event.type === 'model_start');
  const call = calls[number - 1];
  if (call === undefined) throw noSuchCall(number, calls.length);
  const prompt = promptOf(events, call.seq, resolve);
  return isCompact ? jsonLine(prompt) : `${visibleJson(prompt, 2)}\n`;
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
