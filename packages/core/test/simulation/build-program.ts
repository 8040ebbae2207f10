import type { JsonObject } from 'adjutant';
import {
  agent,
  agentTool,
  loop,
  parallel,
  type Runnable,
  type StepContext,
  sequence,
  step,
  type Tool,
  ToolFailure,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { buildGraph, buildRouter } from './build-routes.ts';
import { schemas } from './people-of-programs.ts';
import type { Call, Edit, Finding, Program, Programs, Statement } from './program.ts';

const openSchema = { type: 'object' };
const strictSchema = {
  type: 'object',
  properties: { reason: { type: 'string' } },
  required: ['reason'],
};
/** Requests live longer than a simulation: expiry has programs of its own. */
const expiresInMs = 30 * 86_400_000;
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

type Writable = Record<string, unknown> & {
  update(key: string, change: (value: unknown) => number): void;
};

/**
 * Makes the runnables of programs, with tools and models of their own: those that are asked for, and
 * those below them, which a process must know by name to continue them.
 */
export function buildPrograms(programs: Programs, editOf: EditOf): readonly Runnable[] {
  const made: Made = {
    runnables: new Map(),
    editOf,
    total: 'total',
    isRepeated: false,
    overlaps: false,
  };
  for (const program of programs) buildProgram(program, made);
  return [...made.runnables.values()];
}

/** Finds the edit of a part in this version of the code. */
export type EditOf = (id: string, kind: 'agent' | 'step') => Edit | undefined;

interface Made {
  /** Runnables by their programs: each is made once. */
  readonly runnables: Map<Program, Runnable>;
  /** Edit of a part in this version of the code. */
  readonly editOf: EditOf;
  /**
   * Key of the session that parts add to. Each parallel has one of its own: its branches do not see
   * what is added beside them, and their join writes over it.
   */
  readonly total: string;
  /** A loop is around it. */
  readonly isRepeated: boolean;
  /** An execution of it may begin before the last one has ended: a loop dispatches it. */
  readonly overlaps: boolean;
}

function buildProgram(program: Program, made: Made): Runnable {
  const runnable = made.runnables.get(program) ?? makeProgram(program, made);
  made.runnables.set(program, runnable);
  return runnable;
}

function makeProgram(program: Program, made: Made): Runnable {
  const { id } = program;
  const below = { ...made, total: `total_${id}` };
  switch (program.kind) {
    case 'agent':
      return buildAgent(id, program.rounds, made);
    case 'step':
      return buildStep(program, made);
    case 'loop':
      return loop({
        name: id,
        runnable: buildProgram(program.part, { ...made, isRepeated: true }),
        maxIterations: program.iterations,
      });
    case 'sequence':
      return sequence({
        name: id,
        runnables: program.parts.map((part) => buildProgram(part, made)),
      });
    case 'graph': {
      const isRepeated = made.isRepeated || program.rounds > 1;
      const parts = program.parts.map((part) => buildProgram(part, { ...below, isRepeated }));
      return buildGraph(program, parts);
    }
    case 'router':
      return buildRouter(program, buildProgram(program.part, below));
    default:
      return parallel({
        name: id,
        runnables: program.parts.map((part) => buildProgram(part, below)),
        failFast: program.failFast === true,
      });
  }
}

/** An agent that makes the same calls in the same rounds, whatever their results are. */
function buildAgent(id: string, rounds: readonly (readonly Call[])[], made: Made): Runnable {
  const edit = made.editOf(id, 'agent');
  const ending = edit === 'renamed' ? '_renamed' : '';
  const named = rounds.map((calls, round) =>
    calls.map((call, index) => ({ call, name: `${id}_t${round}_${index}${ending}` })),
  );
  const all = named.flat();
  // Without any tool, the model would do without its calls, and nobody would know of it.
  const others = all.filter(({ call }) => call.does !== 'approval');
  const tools = (edit === 'removed' && others.length > 0 ? others : all).map(({ call, name }) =>
    buildTool(name, call, made, edit),
  );
  const model = scriptedModel((prompt, _call, options) => {
    const done = prompt.filter(
      ({ role, content }) =>
        role === 'assistant' &&
        content.some((part) => part.type === 'tool-call' && part.toolName.startsWith(`${id}_t`)),
    ).length;
    const next = named[done];
    if (next === undefined || (options.tools ?? []).length === 0) return { text: `${id} is done` };
    return { toolCalls: next.map(({ call, name }) => ({ name, args: argumentsOf(call) })) };
  });
  return agent({
    name: id,
    model,
    tools,
    limits: { rounds: rounds.length + 5 },
  });
}

/** Arguments that the tool of a call takes. */
function argumentsOf({ does }: Call): JsonObject {
  return does === 'delegate' ? { message: 'Go on.' } : {};
}

function buildTool(name: string, call: Call, made: Made, edit: Edit | undefined): Tool {
  const schema = edit === 'stricter' ? strictSchema : openSchema;
  const base = { name, description: `Does ${call.does}`, schema };
  switch (call.does) {
    case 'delegate':
      return agentTool(buildProgram(call.part, made) as Parameters<typeof agentTool>[0], { name });
    case 'handoff': {
      const target = buildProgram(call.part, made);
      return tool({ ...base, execute: () => target });
    }
    case 'form':
      return tool({
        ...base,
        yieldSchema: schemas[call.wants],
        yieldOptions: { expiresInMs },
        recovery: 'rerun',
        execute: ({ state }) => {
          (state as unknown as Writable).update(made.total, (total) => numberOf(total) + 1);
          return 'given';
        },
      });
    case 'effects':
      return tool({
        ...base,
        recovery: 'rerun',
        execute: async (ctx) => {
          for (let effect = 0; effect < call.count; effect++)
            await ctx.effect(`e${effect}`, () => effect, { recovery: 'rerun' });
          return call.count;
        },
      });
    default:
      return buildPlainTool(base, call, made.total);
  }
}

function buildPlainTool(
  base: { readonly name: string; readonly description: string; readonly schema: JsonObject },
  { by, does, finds = 'unknown' }: Extract<Call, { readonly by: number }>,
  sum: string,
): Tool {
  const execute = ({ state }: { readonly state: unknown }): number => {
    (state as Writable).update(sum, (total) => numberOf(total) + by);
    return by;
  };
  const definition = { ...base, execute };
  switch (does) {
    case 'read':
      return tool({ ...definition, execute: () => by, readOnly: true });
    case 'probe': {
      // A probe that finds a result does not know what its attempt has written.
      const act = finds === 'happened' ? () => by : execute;
      return tool({ ...definition, execute: act, recovery: () => found(finds, by) });
    }
    case 'retries':
      return tool({
        ...definition,
        retry: retried,
        execute: (ctx) => {
          failAtFirst(ctx);
          return execute(ctx);
        },
      });
    case 'throws':
      return tool({
        ...definition,
        execute: () => {
          throw new Error('It cannot be done.');
        },
      });
    case 'approval':
      return tool({ ...definition, approval: { expiresInMs } });
    case 'expiring':
      return tool({ ...definition, approval: { expiresInMs: 900_000 } });
    case 'input':
      return tool({ ...definition, yieldSchema: {}, yieldOptions: { expiresInMs } });
    default:
      return tool({ ...definition, recovery: does });
  }
}

const retried = { attempts: 3, initialDelayMs: 1_000 };

/** @throws ToolFailure at the first attempt */
function failAtFirst({ attempt }: { readonly attempt: number }): void {
  if (attempt === 1) throw new ToolFailure('Try again.', { status: 'error_transient' });
}

/** What a probe says about an attempt whose result is given. */
function found(finding: Finding, result: number) {
  switch (finding) {
    case 'happened':
      return { happened: true as const, result };
    case 'not':
      return { happened: false as const };
    case 'throws':
      throw new Error('The probe cannot reach it.');
    default:
      return { happened: 'unknown' as const };
  }
}

/** What is dispatched adds to a key of its own: it may end after the join of a parallel around it. */
function madeFor({ does, part }: Extract<Statement, { readonly part: Program }>, made: Made): Made {
  if (does !== 'dispatch') return made;
  return { ...made, total: `total_${part.id}`, overlaps: made.isRepeated };
}

/** A step whose branches run beside each other. */
function buildStep(
  { acceptsDrift = false, branches, id }: Extract<Program, { readonly kind: 'step' }>,
  made: Made,
): Runnable {
  for (const statement of branches.flat())
    if ('part' in statement) buildProgram(statement.part, madeFor(statement, made));
  return step({
    name: id,
    onDrift: acceptsDrift ? 'accept' : 'fail',
    execute: async (ctx) => {
      await Promise.all(
        branches.map(async (branch, b) => {
          for (const [s, statement] of branch.entries())
            await carryOut(ctx, statement, { key: `${id}_b${b}`, place: `b${b}s${s}`, made, id });
        }),
      );
    },
  });
}

interface Place {
  /** Key of session state that only this branch writes. */
  readonly key: string;
  /** Name of the statement in its step. */
  readonly place: string;
  readonly made: Made;
  /** Name of the step. */
  readonly id: string;
}

async function carryOut(ctx: StepContext, statement: Statement, where: Place): Promise<void> {
  const { id, key, made, place } = where;
  const state = ctx.state as unknown as Writable;
  const words = made.editOf(id, 'step') === 'otherWords' ? 'Shall it go on?' : 'May it go on?';
  switch (statement.does) {
    case 'increment':
      addTo(state, where, numberOf(state[key]), 1);
      return;
    case 'set':
      addTo(state, where, 0, statement.value);
      return;
    case 'add': {
      const add = (total: unknown): number => numberOf(total) + statement.by;
      if (statement.scope === 'user') (state['user'] as Writable).update('total', add);
      else state.update(made.total, add);
      return;
    }
    case 'effect':
      if (statement.repaired === undefined) await effect(ctx, place, statement);
      else addTo(state, where, numberOf(state[key]), await repairedEffect(ctx, place, statement));
      return;
    case 'value':
      await ctx.ask(place, { message: words, schema: schemas[statement.wants], expiresInMs });
      addTo(state, where, numberOf(state[key]), 1);
      return;
    case 'question':
      addTo(state, where, numberOf(state[key]), await answer(ctx, place, statement.wants, words));
      return;
    case 'sleep':
      await ctx.sleep(place, statement.ms);
      return;
    case 'race':
      await Promise.race([
        answer(ctx, place, 'text', words),
        ctx.sleep(`${place}_limit`, statement.ms),
      ]);
      return;
    default: {
      const part = buildProgram(statement.part, made);
      const message = made.editOf(id, 'step') === 'otherInput' ? 'Go on in another way.' : 'Go on.';
      const options = statement.isKeyless ? { message } : { key: place, message };
      if (statement.does === 'call') await ctx.call(part, options);
      else if (statement.does === 'dispatch') ctx.dispatch(part, options);
      else await ctx.spawn(part, options).wait();
    }
  }
}

/**
 * Sets the key of a branch to a value that it had before, and some more. Executions that overlap
 * write it beside each other: they add to what is there, so that their order does not matter.
 */
function addTo(state: Writable, { key, made }: Place, before: number, more: number): void {
  if (made.overlaps) state.update(key, (value) => numberOf(value) + more);
  else state[key] = before + more;
}

/** Asks people, and returns a number for what they say. */
async function answer(
  ctx: StepContext,
  place: string,
  wants: 'approval' | 'text',
  message: string,
): Promise<number> {
  if (wants === 'approval') {
    const { approved } = await ctx.ask(place, { message, approval: true, expiresInMs });
    return approved ? 100 : 200;
  }
  try {
    return (await ctx.ask(place, { message, expiresInMs })).length;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'question_rejected') throw error;
    return 50;
  }
}

/** An effect whose unknown outcome is taken as it is. */
async function effect(
  ctx: StepContext,
  place: string,
  { finds = 'unknown', recovery, retries = false }: Extract<Statement, { does: 'effect' }>,
): Promise<void> {
  const perform = (attempt: { readonly attempt: number }): number => {
    if (retries) failAtFirst(attempt);
    return 1;
  };
  try {
    await ctx.effect(place, perform, {
      recovery: recovery === 'probe' ? () => found(finds, 1) : recovery,
      ...(retries ? { retry: retried } : {}),
    });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'effect_unknown') throw error;
  }
}

/** An effect whose unknown outcome fails the step: people repair it. */
function repairedEffect(
  ctx: StepContext,
  place: string,
  { finds = 'unknown', recovery, repaired }: Extract<Statement, { does: 'effect' }>,
): Promise<number> {
  const perform = ({ attempt }: { readonly attempt: number }): number => {
    if (repaired === 'loses' && attempt === 1)
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    return 1;
  };
  return ctx.effect(place, perform, {
    recovery: recovery === 'probe' ? () => found(finds, 1) : recovery,
  });
}
