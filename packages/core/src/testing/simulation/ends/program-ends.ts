import type { Event } from '../../../ledger/event.ts';
import { isRoot, rootOf } from '../../../ledger/path.ts';
import type { LedgerStore } from '../../../ledger/port.ts';
import { storedStateAt } from '../../../session/fold-snapshot.ts';
import { MachineProcess } from '../machine.ts';
import { isTold } from '../repairs/outcome-checks.ts';
import type { StartedProgram } from '../simulated-program.ts';
import type { Watch } from '../watch.ts';
import type { WatchedLedger } from '../watched-ledger.ts';
import type { World } from '../world.ts';
import {
  isDeviation,
  isEndExplained,
  isLostWait,
  isResultExplained,
  isSaid,
} from './failure-causes.ts';

/** End of the run of a program, and the state that it has left behind. */
export interface EndOfProgram {
  /** Place of the program in the list. */
  readonly index: number;
  readonly user: string | undefined;
  readonly status: string | undefined;
  readonly output: unknown;
  readonly stopReason: string | undefined;
  readonly state: unknown;
  /** The events of its session. */
  readonly events: readonly Event[];
  /** Parts of it that not every order of the world brings. */
  readonly deviations: readonly Deviation[];
}

/** A failure, an answer or a message: the program could know of it. */
export interface Deviation {
  readonly text: string;
  /** Call that came to it. */
  readonly callId: string | undefined;
  /** True for an answer. A race between a question and a sleep may do without it. */
  readonly isAnswer: boolean;
  /**
   * True for what people have said, and for all of a run that they have repaired: another order of
   * the world may do without it.
   */
  readonly mayLack: boolean;
  /** True when something that happened to the run is the cause. */
  readonly isExplained: boolean;
}

interface EndedPrograms {
  readonly scope: { readonly tenant: string; readonly app: string };
  readonly started: readonly StartedProgram[];
  readonly watch: Watch;
  readonly ledgers: LedgerStore;
  readonly world: World;
}

/** The state of the users of all programs, by user. */
export async function sharedState({
  started,
  ledgers,
}: Pick<EndedPrograms, 'started' | 'ledgers'>): Promise<Readonly<Record<string, unknown>>> {
  const users = new Set(started.flatMap(({ program }) => program.user ?? []));
  const states: Record<string, unknown> = {};
  for (const user of [...users].sort()) {
    const values = Object.entries(await ledgers.readShared('user', user));
    states[user] = Object.fromEntries(values.map(([key, { value }]) => [key, value ?? null]));
  }
  return states;
}

/** The ends of all programs, in the order of the programs. */
export async function endsOf(ended: EndedPrograms): Promise<readonly EndOfProgram[]> {
  const ends: EndOfProgram[] = [];
  const inOrder = ended.started.toSorted((left, right) => left.index - right.index);
  for (const started of inOrder) ends.push(await endOf(started, ended));
  return ends;
}

async function endOf(
  { index, program, runId, session }: StartedProgram,
  { ledgers, scope, watch, world }: EndedPrograms,
): Promise<EndOfProgram> {
  const ledger = watch.find(session);
  const events = ledger?.events ?? [];
  const end = events.findLast(
    (event) =>
      event.type === 'invocation_end' &&
      isRoot(event.invocationId) &&
      rootOf(event.invocationId) === runId,
  );
  const host = new MachineProcess(world, 'reader', { offset: 0 });
  const ports = { host, store: ledgers, scope };
  const state = events.length === 0 ? {} : (await storedStateAt(ports, session)).sessionState;
  return {
    index,
    user: program.user,
    status: end?.type === 'invocation_end' ? end.status : undefined,
    output: end?.type === 'invocation_end' ? end.output : undefined,
    stopReason: end?.type === 'invocation_end' ? end.stopReason : undefined,
    state,
    events,
    deviations: ledger === undefined ? [] : deviationsOf(ledger),
  };
}

/** Everything in a session that not every order of the world brings, in the order of its places. */
function deviationsOf(ledger: WatchedLedger): readonly Deviation[] {
  const isRepaired = ledger.events.some(({ type }) => type === 'invocation_reopen');
  return ledger.events
    .filter((event) => isDeviation(event) && !isLostWait(ledger, event))
    .map((event) => ({
      text: deviationText(event),
      callId: event.type === 'tool_result' ? event.callId : undefined,
      isAnswer: isAnswer(event),
      mayLack: isRepaired || isMessage(event),
      isExplained: isExplained(ledger, event),
    }))
    .sort((left, right) => (left.text < right.text ? -1 : 1));
}

function isAnswer(event: Event): boolean {
  return (
    (event.type === 'tool_input' && !isSaid(event)) ||
    (event.type === 'invocation_end' && event.error?.code === 'question_rejected')
  );
}

/** True for a message that came in, also as an answer. */
function isMessage(event: Event): boolean {
  return event.type === 'user' || (event.type === 'tool_input' && isSaid(event));
}

function isExplained(ledger: WatchedLedger, event: Event): boolean {
  if (event.type === 'invocation_end') return isEndExplained(ledger, event);
  if (event.type !== 'tool_result' || event.late === true || isTold(event)) return true;
  return isResultExplained(ledger, event);
}

function deviationText(event: Event): string {
  const { invocationId = '' } = event;
  switch (event.type) {
    case 'tool_result': {
      const { callId, late = false, result } = event;
      const how = `${isTold(event) ? 'told ' : ''}${late ? 'late ' : ''}`;
      // People who believe another outcome may be faster: then the run goes on from theirs.
      const told = isTold(event) ? ` ${JSON.stringify(result.content)}` : '';
      return `${callId} is ${how}${result.status} ${result.errorType ?? ''}${told}`;
    }
    case 'invocation_end':
      return `${invocationId} is ${event.status} ${event.error?.code ?? ''}`;
    case 'tool_input':
      return isSaid(event)
        ? `${event.callId} is told ${event.clientKey}`
        : `${event.callId} has ${event.decision ?? 'answer'}`;
    case 'user':
      return `${invocationId} is told ${event.clientKey}`;
    default:
      return `${invocationId} has ${event.type}`;
  }
}
