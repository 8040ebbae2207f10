import { isFromOutside } from '../../src/ledger/actor.ts';
import type { Event, EventOf } from '../../src/ledger/event.ts';
import { isRoot, parentOf } from '../../src/ledger/path.ts';
import { usualRates } from '../../src/testing/simulation/faults.ts';
import { simulateSeed } from '../../src/testing/simulation/simulate-seed.ts';
import { type Call, nodeName, type Program, type Statement } from './program.ts';
import { appOf, programsOf, runsOf } from './seed-programs.ts';

/** Number of ends of the nodes of the language: `delegate: success`, `step: completed`. */
export type EndCounts = ReadonlyMap<string, number>;

/** Counts the ends of all nodes of the programs of some seeds, with the usual faults. */
export async function countEnds(seeds: readonly number[], hours: number): Promise<EndCounts> {
  const counts = new Map<string, number>();
  for (const seed of seeds) {
    const { drawn, machines } = programsOf(seed);
    const { ledgers } = await simulateSeed({
      seed,
      hours,
      machines,
      rates: usualRates,
      programs: runsOf(seed, drawn),
      makeApp: appOf(seed, drawn),
    });
    const names = namesOf(drawn);
    const ends = ledgers.flatMap((events) => [
      ...endsIn(events, names),
      ...deedsIn(events),
      ...lanesIn(events),
    ]);
    for (const end of ends) counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  return counts;
}

/** Names of nodes by the names that the ledger has: of tools, and of statements in their steps. */
function namesOf(programs: readonly Program[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const visit = (program: Program): void => {
    switch (program.kind) {
      case 'agent':
        for (const [round, calls] of program.rounds.entries())
          for (const [index, call] of calls.entries())
            note(`${program.id}_t${round}_${index}`, call);
        return;
      case 'step':
        for (const [b, branch] of program.branches.entries())
          for (const [s, statement] of branch.entries())
            note(`${program.id} b${b}s${s}`, statement);
        return;
      case 'loop':
      case 'router':
        visit(program.part);
        return;
      default:
        program.parts.forEach(visit);
    }
  };
  const note = (name: string, node: Call | Statement): void => {
    names.set(name, nodeName(node));
    if ('part' in node) visit(node.part);
  };
  programs.forEach(visit);
  return names;
}

function endsIn(events: readonly Event[], names: ReadonlyMap<string, string>): readonly string[] {
  const starts = new Map(
    events.flatMap((event) =>
      event.type === 'invocation_start' ? [[event.invocationId, event] as const] : [],
    ),
  );
  return events.flatMap((event) => {
    const start = starts.get(event.invocationId ?? '');
    if (start === undefined) return [];
    if (event.type === 'invocation_end')
      return [start.kind, start.mode, ...questionOf(start, starts, names)].map(
        (what) => `${what}: ${event.status}`,
      );
    if (event.type !== 'tool_result' || !event.settled || event.late === true) return [];
    const node =
      start.kind === 'step'
        ? names.get(`${start.name} ${event.name}`)
        : names.get(event.name.replace(/_renamed$/, ''));
    return node === undefined ? [] : [`${node}: ${event.result.status}`];
  });
}

/** Name of the node that asks a question. */
function questionOf(
  { invocationId, kind, name }: EventOf<'invocation_start'>,
  starts: ReadonlyMap<string, EventOf<'invocation_start'>>,
  names: ReadonlyMap<string, string>,
): readonly string[] {
  const asking = starts.get(parentOf(invocationId));
  const node = names.get(`${asking?.name} ${name}`);
  return kind === 'question' && node !== undefined ? [node] : [];
}

/** Deeds of people in a ledger: outcomes that they told, runs that they reopened, messages. */
function deedsIn(events: readonly Event[]): readonly string[] {
  const isRepaired = events.some(({ type }) => type === 'invocation_reopen');
  return events.flatMap((event) => {
    switch (event.type) {
      case 'tool_result':
        return isFromOutside(event.by) ? [`outcome told: ${toldOf(event)}`] : [];
      case 'invocation_reopen':
        return ['run reopened: by people'];
      case 'invocation_end':
        return isRepaired && isRoot(event.invocationId) ? [`run repaired: ${event.status}`] : [];
      case 'tool_input':
        if (event.text === undefined) return [];
        return [
          `message to a ${event.callId === event.invocationId ? 'question' : 'call'}: answers`,
        ];
      case 'decision':
        return event.decision === 'ambiguous_answer' ? ['message: ambiguous'] : [];
      default:
        return [];
    }
  });
}

/** Beginnings and ends of runs in a lane of their own, and those beside an open run. */
function lanesIn(events: readonly Event[]): readonly string[] {
  const open = new Map<string, string>();
  return events.flatMap((event) => {
    if (event.type === 'invocation_start' && isRoot(event.invocationId)) {
      open.set(event.invocationId, event.lane ?? '');
      const lanes = new Set(open.values());
      return [
        ...(event.lane === undefined ? [] : ['second lane: begun']),
        ...(lanes.size > 1 ? ['two lanes: open at once'] : []),
      ];
    }
    if (event.type !== 'invocation_end' || event.next !== undefined) return [];
    const lane = open.get(event.invocationId);
    open.delete(event.invocationId);
    return lane ? [`second lane: ${event.status}`] : [];
  });
}

function toldOf({ effect, retryAfterMs }: EventOf<'tool_result'>): string {
  if (effect !== 'none') return 'happened';
  return retryAfterMs === undefined ? 'failed' : 'not done';
}
