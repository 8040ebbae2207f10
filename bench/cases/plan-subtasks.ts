import { join } from 'node:path';
import { MemorySaver } from '@langchain/langgraph';
import { memoryStore } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { assertEqual } from '../contenders/contender.ts';
import {
  graphOf,
  langGraphSubtasks,
  planOf,
  type RunSubtasks,
  subtasks,
  wide,
} from '../contenders/subtasks.ts';
import { findSqliteSaver } from '../langgraph-sqlite.ts';
import { elapsed, Figure, type Figures, interleave } from '../measure.ts';
import { mastraSubtasks } from '../peers/workflows.ts';
import { type Benchmark, ours, type Row, type Settings } from '../row.ts';

/** Share of the time of the faster peer that ours may take. */
const share = 0.2;
const peers = ['LangGraph.js', 'Mastra'];

/** As the peers have it. */
const unsynced = { synchronous: 'normal' } as const;

const notes: string[] = [];

/** The cost of one of 100 empty subtasks, of which 8 work at the same time. */
export const planSubtasks: Benchmark = {
  name: 'plan-subtasks',
  notes,
  async run(settings) {
    notes.length = 0;
    notes.push(
      'Subtasks are told apart in our ledger and by LangGraph.js (`Send`), each with a start and an ' +
        'end of its own; `foreach` of Mastra is one step, of which it keeps nothing in memory. ' +
        'No SQLite is synced here (NORMAL).',
    );
    const repetitions = settings.quick ? 6 : 24;
    return [
      ...rowsOf('in memory', await interleave(subjectsOf(await inMemory()), repetitions)),
      ...rowsOf('on SQLite', await interleave(subjectsOf(await onSqlite(settings)), repetitions)),
    ];
  },
};

type Contenders = Readonly<Record<string, RunSubtasks | undefined>>;

async function inMemory(): Promise<Contenders> {
  return {
    [ours]: planOf(memoryStore()),
    graph: graphOf(memoryStore()),
    'LangGraph.js': langGraphSubtasks(new MemorySaver()),
    Mastra: await mastra(),
  };
}

async function onSqlite({ folder }: Settings): Promise<Contenders> {
  const { open, reason } = await findSqliteSaver();
  if (reason !== undefined) notes.push(`NOT MEASURED: LangGraph.js on SQLite: ${reason}.`);
  const saver = open?.(join(folder, 'subtasks-langgraph.db'), 'normal');
  return {
    [ours]: planOf(sqlite(join(folder, 'subtasks-plan.db'), unsynced)),
    graph: graphOf(sqlite(join(folder, 'subtasks-graph.db'), unsynced)),
    'LangGraph.js': saver === undefined ? undefined : langGraphSubtasks(saver.checkpointer),
    Mastra: await mastra(join(folder, 'subtasks-mastra.db')),
  };
}

async function mastra(file?: string): Promise<RunSubtasks | undefined> {
  try {
    return await mastraSubtasks(subtasks, wide, file);
  } catch (error) {
    notes.push(`NOT MEASURED: Mastra: ${(error as Error).message.split('\n')[0] ?? ''}.`);
    return undefined;
  }
}

function subjectsOf(contenders: Contenders) {
  return Object.entries(contenders).flatMap(([name, run]) =>
    run === undefined ? [] : [{ name, measure: () => perSubtask(name, run) }],
  );
}

async function perSubtask(name: string, run: RunSubtasks): Promise<number> {
  let ended = 0;
  const ms = await elapsed(async () => {
    ended = await run();
  });
  assertEqual(ended, subtasks, `Subtasks of ${name}`);
  return ms / subtasks;
}

/** The times of a plan and of a graph, and both against the faster peer. */
function rowsOf(where: string, figures: Figures): readonly Row[] {
  const ofPeers = [...figures].filter(([name]) => peers.includes(name));
  const [plan, graph] = [ours, 'graph'].map((name) => figures.get(name) as Figure);
  const rows: Row[] = [
    [`one of ${subtasks} subtasks of a plan, ${where}`, plan] as const,
    [`one of ${subtasks} nodes of a graph, ${where}`, graph] as const,
  ].map(([work, figure]) => ({
    work,
    unit: 'µs',
    figures: new Map([inMicroseconds([ours, figure as Figure]), ...ofPeers.map(inMicroseconds)]),
  }));
  const fastest = Math.min(...ofPeers.map(([, { least }]) => least));
  if (!Number.isFinite(fastest)) return rows;
  const ratio = (of: Figure | undefined): Figure =>
    new Figure([(of?.least ?? Number.NaN) / fastest]);
  return [
    ...rows,
    {
      work: `a subtask of a plan against the faster peer, ${where}`,
      unit: '×',
      figures: new Map([[ours, ratio(plan)]]),
      ceiling: { limit: share },
    },
    {
      work: `a node of a graph against the faster peer, ${where}`,
      unit: '×',
      figures: new Map([[ours, ratio(graph)]]),
      ceiling: { limit: share },
    },
  ];
}

function inMicroseconds([name, { values }]: readonly [string, Figure]): [string, Figure] {
  return [name, new Figure(values.map((ms) => ms * 1_000))];
}
