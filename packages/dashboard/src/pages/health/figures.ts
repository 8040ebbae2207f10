import type { SessionUsage, ToolUsagePage, UsagePage } from '@adjutant/server/client';

/** Span that figures are of: its length, and into how many parts costs are cut. */
export interface Span {
  readonly ms: number;
  readonly parts: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const spans = {
  hour: { ms: hourMs, parts: 6 },
  day: { ms: dayMs, parts: 8 },
  week: { ms: 7 * dayMs, parts: 7 },
  month: { ms: 30 * dayMs, parts: 10 },
} as const satisfies Readonly<Record<string, Span>>;
export type SpanName = keyof typeof spans;

export type ToolFigures = ToolUsagePage['tools'][number];
export type RoundFigures = ToolUsagePage['rounds'][number];
export type WorkFigures = Pick<ToolUsagePage, 'tools' | 'rounds'>;

interface Measured {
  readonly durationMs: number;
  readonly longestMs: number;
}

/** Adds the figures of another page of sessions. */
export function withWork(work: WorkFigures, more: WorkFigures): WorkFigures {
  return {
    tools: merged(
      work.tools,
      more.tools,
      ({ tool }) => tool,
      (a, b) => ({
        ...a,
        ...measuredOf(a, b),
        calls: a.calls + b.calls,
        failed: a.failed + b.failed,
      }),
    ),
    rounds: merged(
      work.rounds,
      more.rounds,
      ({ agent }) => agent,
      (a, b) => ({
        ...a,
        ...measuredOf(a, b),
        rounds: a.rounds + b.rounds,
      }),
    ),
  };
}

function measuredOf(a: Measured, b: Measured): Measured {
  return {
    durationMs: a.durationMs + b.durationMs,
    longestMs: Math.max(a.longestMs, b.longestMs),
  };
}

function merged<Item>(
  items: readonly Item[],
  more: readonly Item[],
  keyOf: (item: Item) => string,
  both: (a: Item, b: Item) => Item,
): Item[] {
  const found = new Map(items.map((item) => [keyOf(item), item]));
  for (const item of more) {
    const before = found.get(keyOf(item));
    found.set(keyOf(item), before === undefined ? item : both(before, item));
  }
  return [...found.values()];
}

/** Usage of one model in a span. */
export interface ModelFigures {
  readonly model: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cost: number;
  readonly unpriced: number;
}

/** Returns usage by model, the dearest first. */
export function byModel(sessions: readonly SessionUsage[]): readonly ModelFigures[] {
  const all = sessions
    .flatMap((session) => session.models)
    .map(({ model, calls, usage, cost, unpriced }) => ({
      ...{ model, calls, cost, unpriced },
      input: usage.inputTokens,
      output: usage.outputTokens,
    }));
  return merged<ModelFigures>(
    [],
    all,
    ({ model }) => model,
    (a, b) => ({
      model: a.model,
      calls: a.calls + b.calls,
      input: a.input + b.input,
      output: a.output + b.output,
      cost: a.cost + b.cost,
      unpriced: a.unpriced + b.unpriced,
    }),
  ).toSorted((a, b) => b.cost - a.cost || b.calls - a.calls);
}

/** Part of a span, with its sums. */
export interface PartFigures {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
  readonly cost: number;
  readonly tokens: number;
}

/** Returns the ends of the parts of a span that ends at a time. */
export function partsOf({ ms, parts }: Span, end: number): readonly { from: number; to: number }[] {
  const length = ms / parts;
  return Array.from({ length: parts }, (_, i) => ({
    from: Math.round(end - ms + i * length),
    to: Math.round(end - ms + (i + 1) * length),
  }));
}

/** Sums of the sessions of a page. */
export function totalsOf({ total }: Pick<UsagePage, 'total'>) {
  const { calls, cost, usage } = total;
  return { calls, cost, tokens: usage.inputTokens + usage.outputTokens };
}

/** Share of failed calls above which a tool is reported, and the fewest calls that say anything. */
const worstFailures = 0.2;
const fewestCalls = 3;
const slowestRoundMs = 30_000;

export interface Alert {
  readonly name: string;
  readonly text: string;
  /** Says what to do about it. */
  readonly advice: string;
}

const adviceOnTool =
  'Read the errors of its last calls in the sessions that use it. When it is the other side, ' +
  'give it retries or another tool as its fallback; when it is the arguments, say in its schema ' +
  'what fits.';
const adviceOnAgent =
  'Look at the timeline of one of its sessions. A long model call wants a shorter prompt or a ' +
  'faster model; a long tool wants a time limit.';

/** Returns what somebody should look at: tools that fail often, and agents with long rounds. */
export function alertsOf({ tools, rounds }: WorkFigures): readonly Alert[] {
  return [
    ...tools
      .filter(({ calls, failed }) => calls >= fewestCalls && failed / calls > worstFailures)
      .map(({ tool, calls, failed }) => ({
        name: tool,
        text: `fails in ${percent(failed / calls)} of its calls: ${failed} of ${calls}`,
        advice: adviceOnTool,
      })),
    ...rounds
      .filter(({ rounds: count, durationMs }) => durationMs / count > slowestRoundMs)
      .map(({ agent, rounds: count, durationMs }) => ({
        name: agent,
        text: `takes ${Math.round(durationMs / count / 1_000)} s a round, on average of ${count}`,
        advice: adviceOnAgent,
      })),
  ];
}

export function percent(share: number): string {
  return `${share > 0 && share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
}
