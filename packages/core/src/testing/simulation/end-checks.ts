import type { Event, EventOf } from '../../ledger/event.ts';
import { hasTaken } from '../../ledger/folds/taken-message.ts';
import { taskKind } from '../../ledger/folds/task.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import { type AnswersOfPeople, checkAnswersHeeded } from './answer-checks.ts';
import { type ConfirmedControl, checkControls, type LetGo } from './control-checks.ts';
import { checkEvents } from './events/event-checks.ts';
import { checkMessages } from './messages/message-checks.ts';
import type { SaidMessage } from './messages/messages.ts';
import { isGoingOn, openPaths, pathsGoingOn } from './open-paths.ts';
import { checkOutcomesTold, type ToldOutcome } from './repairs/outcome-checks.ts';
import type { StartedProgram } from './simulated-program.ts';
import type { Watch } from './watch.ts';
import type { BrokenRule, ReportBroken, WatchedLedger } from './watched-ledger.ts';

/** A simulation at its end, when nothing has failed any more for a while. */
export interface EndedSimulation {
  readonly watch: Watch;
  readonly ledgers: LedgerStore;
  readonly started: readonly StartedProgram[];
  /** Answers that were confirmed, by the ids of the requests. */
  readonly answered: AnswersOfPeople;
  /** Answers that people tried to give, by the ids of the requests. */
  readonly given: AnswersOfPeople;
  /** Keys of the messages that were confirmed, with their sessions. */
  readonly said: ReadonlyMap<string, string>;
  /** Messages in the place of answers, by their keys. */
  readonly messages: ReadonlyMap<string, SaidMessage>;
  /** Outcomes of effects that people told. */
  readonly told: readonly ToldOutcome[];
  /** Ids of events whose publication was confirmed. */
  readonly published: ReadonlySet<string>;
  /** Cancels and pauses that were confirmed. */
  readonly controls: readonly ConfirmedControl[];
  /** The times at which paused sessions were to go on. */
  readonly letGo: readonly LetGo[];
}

/** Checks everything that must hold when all work had the time to end. */
export async function checkEnd(ended: EndedSimulation): Promise<readonly BrokenRule[]> {
  const { watch, ledgers, started, answered, controls, given, letGo, messages, said, told } = ended;
  const broken: BrokenRule[] = [];
  const report: ReportBroken = (rule, detail) => void broken.push({ rule, detail });
  for (const program of started) {
    checkProgram(watch, program, report);
    if (program.program.task !== undefined) await checkTask(ledgers, program, report);
  }
  for (const ledger of watch.ledgers.values()) {
    await checkSession(ledgers, ledger, report);
    await checkStored(ledgers, ledger, report);
    checkApproved(ledger, report);
    checkAnswersHeeded(ledger, given, answered, report);
    const { session } = ledger;
    const isOfSession = (one: { readonly session: string }): boolean => one.session === session;
    checkMessages(ledger, { said: messages, datedAt: watch.datedAt }, report);
    checkOutcomesTold(ledger, told.filter(isOfSession), report);
    checkControls(ledger, controls.filter(isOfSession), letGo.filter(isOfSession), report);
  }
  checkAnswers(watch, answered, report);
  checkEvents(watch, ended.published, report);
  const confirmed = [...messages].filter(([, { isConfirmed }]) => isConfirmed);
  const answers = confirmed.map(([clientKey, { session }]) => [clientKey, session] as const);
  for (const [clientKey, session] of [...said, ...answers]) {
    const isTaken = watch.eventsOf(session).some((event) => hasTaken(event, clientKey));
    if (!isTaken) report('message_not_lost', `${session}: ${clientKey} was confirmed`);
  }
  await checkRequests(ledgers, watch, report);
  return broken;
}

/** Every accepted run has begun, and every run that has begun has ended. */
function checkProgram(
  watch: Watch,
  { isAccepted, lane, runId, session }: StartedProgram,
  report: ReportBroken,
) {
  const events = watch.eventsOf(session);
  const begun = events.filter(
    (event): event is EventOf<'invocation_start'> =>
      event.type === 'invocation_start' && event.invocationId === runId,
  );
  if (!isAccepted) report('run_accepted', `${runId} was never taken in`);
  else if (begun.length === 0) report('run_not_lost', `${runId} was accepted and never began`);
  if (begun.length > 1) report('run_once', `${runId} began ${begun.length} times`);
  const elsewhere = begun.find((event) => event.lane !== lane);
  if (elsewhere !== undefined)
    report('run_once', `${runId} began in the lane ${elsewhere.lane ?? 'without a name'}`);
}

/** A task that has ended is listed so, and has no place in the queue any more. */
async function checkTask(
  ledgers: LedgerStore,
  { runId, session }: StartedProgram,
  report: ReportBroken,
): Promise<void> {
  const [row] = await ledgers.rows({ kind: taskKind, id: runId, limit: 1 });
  if (row === undefined || row.status === 'open')
    report('everything_ends', `the task ${runId} is ${row?.status ?? 'not listed'}`);
  const turn = await ledgers.turn(session);
  if (turn !== undefined) report('everything_ends', `${session} has a turn that is ${turn.state}`);
}

/** Nothing is left to do: no open invocation, no item in the inbox, no time to be woken at. */
async function checkSession(
  ledgers: LedgerStore,
  { events, session }: WatchedLedger,
  report: ReportBroken,
): Promise<void> {
  for (const path of pathsGoingOn(events)) report('everything_ends', `${session}: ${path} is open`);
  const left = await ledgers.inbox(session);
  if (left.length > 0)
    report('inbox_drained', `${session}: ${left.map(({ type }) => type).join(', ')} is left`);
}

/** The store gives back what it has taken. */
async function checkStored(
  ledgers: LedgerStore,
  { events, session }: WatchedLedger,
  report: ReportBroken,
): Promise<void> {
  const stored: Event[] = [];
  for await (const page of ledgers.read(session)) stored.push(...page);
  const isSame =
    stored.length === events.length &&
    stored.every((event, index) => event.id === events[index]?.id);
  if (!isSame) report('ledger_kept', `${session}: ${stored.length} of ${events.length} events`);
}

/** Every call that a person approved is carried out, or a decision says why not. */
function checkApproved({ events, session }: WatchedLedger, report: ReportBroken): void {
  const open = openPaths(events);
  for (const event of events) {
    if (event.type !== 'tool_input' || event.decision !== 'approve') continue;
    const { callId, requestId, seq } = event;
    const isHeeded = events.some(
      (later) =>
        later.seq > seq &&
        ((later.type === 'tool_attempt' && later.callId === callId) ||
          (later.type === 'decision' && later.data?.['requestId'] === requestId) ||
          // A tool that failed before it asked again for the child that waits.
          (later.type === 'tool_result' &&
            later.settled &&
            later.result.status !== 'success' &&
            callId.startsWith(`${later.callId}/`)) ||
          // A question of a step; or its body has ended without it.
          (later.type === 'invocation_end' && later.invocationId === callId) ||
          (later.type === 'invocation_end' &&
            later.status !== 'completed' &&
            callId.startsWith(`${later.invocationId}/`)) ||
          // The agent that called it is open, and edited code has left it behind.
          (later.type === 'decision' &&
            later.decision === 'accept_orphaned_child' &&
            callId.startsWith(`${later.invocationId}/`) &&
            open.has(event.invocationId ?? ''))),
    );
    if (!isHeeded) report('approval_heeded', `${session}: ${callId} was approved for nothing`);
  }
}

/** Every answer that was confirmed is in a ledger, as an answer or as one that was refused. */
function checkAnswers(
  watch: Watch,
  answered: EndedSimulation['answered'],
  report: ReportBroken,
): void {
  const told = new Set<string>();
  for (const { events } of watch.ledgers.values())
    for (const event of events) {
      if (event.type === 'tool_input') told.add(event.requestId);
      if (event.type === 'decision' && typeof event.data?.['requestId'] === 'string')
        told.add(event.data['requestId']);
    }
  for (const [requestId, answers] of answered) {
    if (!told.has(requestId)) report('answer_not_lost', `${requestId} was answered`);
    if (answers.size > 1) report('one_confirmed', `${requestId}: ${[...answers].join(' and ')}`);
  }
}

/** A request waits only as long as its invocation does. */
async function checkRequests(
  ledgers: LedgerStore,
  watch: Watch,
  report: ReportBroken,
): Promise<void> {
  const pending = await ledgers.requests({ status: 'pending', limit: 1_000 });
  for (const { callId, invocationId, session } of pending) {
    if (!isGoingOn(watch.eventsOf(session), invocationId))
      report('request_owned', `${session}: ${callId} waits for nobody`);
  }
}
