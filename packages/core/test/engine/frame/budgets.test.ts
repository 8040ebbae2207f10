import {
  type Agent,
  agent,
  agentTool,
  type Event,
  type EventOf,
  memoryStore,
  parallel,
  type RuntimeOptions,
  runtime,
  tool,
} from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

type Model = Extract<Parameters<typeof agent>[0]['model'], { readonly kind: 'model' }>;
type ModelCall = Parameters<ReturnType<typeof scriptedModel>['doStream']>[0];

/**
 * One round of an agent: how much it says, how long it takes, and which of the agents below it it
 * calls.
 */
interface Round {
  readonly output: number;
  readonly turns: number;
  readonly calls: readonly number[];
  readonly looks: number;
}

interface Limits {
  readonly rounds?: number | undefined;
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
}

interface Plan {
  readonly rounds: readonly Round[];
  readonly limits: Limits;
  readonly maxTokens: number | undefined;
  readonly children: readonly Plan[];
}

const look = tool({
  name: 'look',
  description: 'Looks',
  recovery: 'rerun',
  schema: z.object({ at: z.number() }),
  execute: () => 'seen',
});

/**
 * Letters of a prompt: less than what the runtime counts of it, so that it is not larger than
 * estimated.
 */
function letters(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  const { text } = part as { text?: unknown };
  let sum = typeof text === 'string' ? text.length : 0;
  for (const inner of Object.values(part)) sum += letters(inner);
  return sum;
}

/** A model that says how much it used, and honours `maxOutputTokens`. */
function honestModel(
  id: string,
  { rounds, maxTokens }: Plan,
  children: readonly Agent[],
  onCall: () => void,
): Model {
  let calls = 0;
  const base = scriptedModel([]);
  const doStream = async (options: ModelCall) => {
    const round = rounds[calls++];
    onCall();
    for (let turn = 0; turn < (round?.turns ?? 0); turn++)
      await new Promise<void>((resolve) => setImmediate(resolve));
    const usage = {
      inputTokens: Math.floor(letters(options.prompt) / 4),
      outputTokens: Math.min(
        round?.output ?? 5,
        options.maxOutputTokens ?? Number.POSITIVE_INFINITY,
      ),
    };
    const mayCall = options.toolChoice?.type !== 'none' && round !== undefined;
    if (!mayCall) return scriptedModel([{ text: `answer of ${id}`, usage }]).doStream(options);
    const called = round.calls.flatMap(
      (index) => children[index % Math.max(1, children.length)] ?? [],
    );
    const toolCalls = [
      ...called.map(({ name }, index) => ({
        name,
        args: { message: `Task ${calls}.${index}` },
        providerCallId: `${id}_${calls}_${index}`,
      })),
      ...Array.from({ length: round.looks }, (_, at) => ({
        name: 'look',
        args: { at: 100 * calls + at },
        providerCallId: `${id}_${calls}_l${at}`,
      })),
    ];
    return scriptedModel([{ text: `round ${calls}`, toolCalls, usage }]).doStream(options);
  };
  return {
    kind: 'model',
    provider: 'scripted',
    modelId: id,
    settings: { ...(maxTokens === undefined ? {} : { maxTokens }) },
    price: { input: 1_000, output: 4_000 },
    load: () => ({ ...base, doStream }),
  };
}

function defined(limits: Limits): {
  readonly rounds?: number;
  readonly tokens?: number;
  readonly cost?: number;
} {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

function build(id: string, plan: Plan, onCall: () => void, found: Map<string, Limits>): Agent {
  const children = plan.children.map((child, index) =>
    build(`${id}_${index}`, child, onCall, found),
  );
  found.set(id, plan.limits);
  return agent({
    name: id,
    model: honestModel(id, plan, children, onCall),
    tools: [look, ...children.map((child) => agentTool(child))],
    limits: defined(plan.limits),
  });
}

function ofType<Type extends Event['type']>(events: readonly Event[], type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

function sum(ends: readonly EventOf<'model_end'>[]): {
  readonly tokens: number;
  readonly cost: number;
} {
  const tokens = ends.reduce(
    (total, { usage }) => total + usage.inputTokens + usage.outputTokens,
    0,
  );
  return { tokens, cost: ends.reduce((total, { cost = 0 }) => total + cost, 0) };
}

function expectWithin(
  ends: readonly EventOf<'model_end'>[],
  { tokens, cost }: Limits,
  whose: string,
): void {
  const used = sum(ends);
  if (tokens !== undefined) expect(used.tokens, `tokens of ${whose}`).toBeLessThanOrEqual(tokens);
  if (cost !== undefined) expect(used.cost, `cost of ${whose}`).toBeLessThanOrEqual(cost + 1e-9);
}

/** Answered calls, without last answers: these come on top of a limit in rounds. */
function roundsOf(events: readonly Event[], isCounted: (path: string) => boolean): number {
  const ending = new Set<string>();
  let rounds = 0;
  for (const event of events) {
    if (event.type === 'decision' && event.component === 'limits' && event.decision === 'exhausted')
      ending.add(event.invocationId ?? '');
    if (
      event.type !== 'model_end' ||
      event.status !== 'completed' ||
      ending.has(event.invocationId)
    )
      continue;
    if (isCounted(event.invocationId)) rounds++;
  }
  return rounds;
}

function expectKept(
  events: readonly Event[],
  run: Limits,
  agents: ReadonlyMap<string, Limits>,
): void {
  const ends = ofType(events, 'model_end');
  expectWithin(ends, run, 'the run');
  if (run.rounds !== undefined)
    expect(roundsOf(events, () => true)).toBeLessThanOrEqual(run.rounds);
  for (const { invocationId: path, name } of ofType(events, 'invocation_start')) {
    const limits = agents.get(name);
    if (limits === undefined) continue;
    const below = ends.filter(
      ({ invocationId }) => invocationId === path || invocationId.startsWith(`${path}/`),
    );
    expectWithin(below, limits, path);
    if (limits.rounds !== undefined)
      expect(roundsOf(events, (other) => other === path)).toBeLessThanOrEqual(limits.rounds);
  }
}

function expectSaid(events: readonly Event[]): void {
  const decisions = ofType(events, 'decision').filter(({ component }) => component === 'limits');
  const warnings = decisions.filter(({ decision }) => decision === 'warn');
  const named = warnings.map(
    ({ data, invocationId }) =>
      `${data?.['of'] === 'run' ? 'run' : invocationId} ${String(data?.['reason'])}`,
  );
  expect(new Set(named).size).toBe(named.length);
  const ended = new Map(ofType(events, 'invocation_end').map((end) => [end.invocationId, end]));
  for (const { invocationId = '', decision, data } of decisions) {
    if (decision !== 'exhausted') continue;
    const end = ended.get(invocationId);
    expect(end).toMatchObject({ status: 'completed', stopReason: data?.['reason'] });
    expect(end?.output).not.toBe('');
    expect(typeof end?.output).toBe('string');
  }
}

const round = fc.record({
  output: fc.integer({ min: 1, max: 600 }),
  turns: fc.nat(3),
  calls: fc.array(fc.nat(2), { maxLength: 2, size: 'max' }),
  looks: fc.integer({ min: 1, max: 2 }),
});
/** Some too small for any call, most enough for several. */
const amount = fc.oneof(
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000 }) },
  { weight: 5, arbitrary: fc.integer({ min: 1_000, max: 12_000 }) },
);
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const limits = fc.record({
  rounds: some(fc.integer({ min: 1, max: 12 })),
  tokens: some(amount),
  cost: some(amount.map((tokens) => tokens / 500)),
});
const maxTokens = some(fc.integer({ min: 20, max: 800 }));

function plans(depth: number): fc.Arbitrary<Plan> {
  const children =
    depth === 0 ? fc.constant([]) : fc.array(plans(depth - 1), { maxLength: 2, size: 'max' });
  return fc.record({
    rounds: fc.array(round, { maxLength: 4, size: 'max' }),
    limits,
    maxTokens,
    children,
  });
}

const input = `Do it. ${'word '.repeat(60)}`;
const trees = fc.array(plans(2), { minLength: 1, maxLength: 4, size: 'max' });

describe('a tree of agents', () => {
  test(
    'never uses more than the run and each agent may, says so once, and ' + 'always answers',
    async () => {
      await fc.assert(
        fc.asyncProperty(trees, limits, async (branches, runLimits) => {
          const agents = new Map<string, Limits>();
          const runnables = branches.map((plan, index) =>
            build(`b${index}`, plan, () => undefined, agents),
          );
          const result = await runtime({ app: 'budgets', limits: defined(runLimits) }).run(
            parallel({ name: 'all', runnables }),
            input,
          );
          expect(result.status).toBe('completed');
          expectKept(result.session.events, runLimits, agents);
          expectSaid(result.session.events);
        }),
        { numRuns: 150 },
      );
    },
  );

  test('keeps within its limits when it is stopped and resumed in between', async () => {
    await fc.assert(
      fc.asyncProperty(
        trees,
        limits,
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 }),
        async (branches, runLimits, stops) => {
          const agents = new Map<string, Limits>();
          let calls = 0;
          let onCall = (): void => undefined;
          const runnables = branches.map((plan, index) =>
            build(`b${index}`, plan, () => onCall(), agents),
          );
          const options: RuntimeOptions = {
            app: 'budgets',
            recover: 'manual',
            limits: defined(runLimits),
            store: memoryStore(),
            runnables: [parallel({ name: 'all', runnables })],
          };
          let events: readonly Event[] | undefined;
          for (const stopAfter of [...stops, Number.POSITIVE_INFINITY]) {
            const app = runtime(options);
            const [all] = options.runnables as readonly [ReturnType<typeof parallel>];
            const running =
              events === undefined ? app.run(all, { input, session: 's' }) : app.resume('s');
            calls = 0;
            onCall = () => {
              if (++calls === stopAfter) running.stop();
            };
            const result = await Promise.resolve(running).catch(
              (error: { code?: string }) => error.code,
            );
            if (typeof result === 'object') {
              expect(result.status).toBe('completed');
              events = result.session.events;
              break;
            }
            expect(result).toBe('run_stopped');
            events = [];
          }
          expectKept(events ?? [], runLimits, agents);
          expectSaid(events ?? []);
        },
      ),
      { numRuns: 80 },
    );
  });
});
