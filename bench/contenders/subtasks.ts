import {
  Annotation,
  type BaseCheckpointSaver,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { runtime, type Store, step } from 'adjutant';
import { graph, plan } from 'adjutant/plan';

/** Number of subtasks, and of those that work at the same time. */
export const subtasks = 100;
export const wide = 8;

const ids = Array.from({ length: subtasks }, (_, i) => `t${i}`);

/** Runs the subtasks once, and returns how many have ended. */
export type RunSubtasks = () => Promise<number>;

const work = step({ name: 'work', effects: false, execute: (ctx) => ctx.complete(1) });

function countOf(output: unknown): number {
  return Object.keys((output ?? {}) as object).length;
}

/** A plan whose planner is a function. */
export function planOf(store: Store): RunSubtasks {
  const app = runtime({ app: 'bench', store });
  const planned = plan({
    name: 'many',
    planner: () => ids.map((id) => ({ id, description: 'Nothing', worker: 'work' })),
    workers: [work],
    limits: { subtasks, parallel: wide },
  });
  return async () => countOf((await app.run(planned, 'Do it')).output);
}

/** A graph of as many nodes. */
export function graphOf(store: Store): RunSubtasks {
  const app = runtime({ app: 'bench', store });
  const many = graph({
    name: 'many',
    nodes: Object.fromEntries(ids.map((id) => [id, work])),
    edges: [],
    start: ids,
    limits: { parallel: wide },
  });
  return async () => countOf((await app.run(many)).output);
}

let threads = 0;

/** LangGraph.js: one `Send` for each subtask. */
export function langGraphSubtasks(checkpointer: BaseCheckpointSaver): RunSubtasks {
  const state = Annotation.Root({
    done: Annotation<number[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  });
  const many = new StateGraph(state)
    .addNode('work', () => ({ done: [1] }))
    .addConditionalEdges(START, () => ids.map((id) => new Send('work', { id })), ['work'])
    .compile({ checkpointer });
  return async () => {
    const { done } = await many.invoke(
      { done: [] },
      { configurable: { thread_id: `t${++threads}` }, maxConcurrency: wide },
    );
    return done.length;
  };
}
