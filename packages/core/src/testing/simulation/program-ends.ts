import type { Event } from '../../ledger/event.ts';
import { isRoot, rootOf } from '../../ledger/path.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import { storedStateAt } from '../../session/fold-snapshot.ts';
import { MachineProcess } from './machine.ts';
import type { StartedProgram } from './people.ts';
import type { Watch } from './watch.ts';
import type { World } from './world.ts';

/** End of the run of a program, and the state that it has left behind. */
export interface EndOfProgram {
  readonly status: string | undefined;
  readonly output: unknown;
  readonly state: unknown;
  /** False when something came in between that changes what the program could know. */
  readonly isUndisturbed: boolean;
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
}: Pick<EndedPrograms, 'started' | 'ledgers'>): Promise<unknown> {
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
  { runId, session }: StartedProgram,
  { ledgers, scope, watch, world }: EndedPrograms,
): Promise<EndOfProgram> {
  const events = watch.eventsOf(session);
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
    status: end?.type === 'invocation_end' ? end.status : undefined,
    output: end?.type === 'invocation_end' ? end.output : undefined,
    state,
    isUndisturbed: events.every(isUndisturbed),
  };
}

/** True for an event that every order of the world brings. */
function isUndisturbed(event: Event): boolean {
  switch (event.type) {
    case 'tool_result':
      return event.result.status === 'success' && event.late !== true;
    case 'invocation_end':
      return event.status === 'completed' || event.status === 'transferred';
    case 'tool_input':
      return event.decision === 'approve' || event.decision === 'answer';
    case 'cancel':
      return false;
    case 'decision':
      // Work of another version of the code was left behind.
      return !(event.component === 'invoke' && event.decision.startsWith('accept_'));
    case 'user':
      // A message of which the program without faults does not know.
      return event.clientKey?.startsWith('people/') !== true;
    default:
      return true;
  }
}
