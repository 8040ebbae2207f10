import { type JsonValue, session as memorySession, type ToolResult } from 'adjutant';
import {
  type EvalCaseInput,
  parseDataset,
  type Score,
  type ScoreReport,
  type Scorer,
  type TrialRecord,
  type TrialToolCall,
} from 'adjutant/eval';

/** A call as tests write it: a name, or a name with arguments and what came back. */
export type WrittenCall = string | readonly [name: string, args?: JsonValue, result?: JsonValue];

/** Events of a turn. */
export interface WrittenTurn {
  readonly says?: string | readonly string[];
  readonly calls?: readonly WrittenCall[];
}

function callOf(written: WrittenCall, index: number): TrialToolCall {
  const [name, args = {}, result] = typeof written === 'string' ? [written] : written;
  const full: ToolResult | undefined =
    result === undefined ? undefined : { status: 'success', content: result };
  return {
    callId: `t/r1.${index}`,
    agent: 'assistant',
    name,
    args,
    ...(full === undefined ? {} : { result: full }),
  };
}

/** A trial as a ledger would tell it, for scorers. */
export async function trialOf(
  written: Omit<EvalCaseInput, 'id'>,
  turns: readonly WrittenTurn[],
  more: Partial<TrialRecord> = {},
): Promise<TrialRecord> {
  const [evalCase] = parseDataset([{ id: 'case', ...written }]).cases;
  if (evalCase === undefined) throw new TypeError('There is one case.');
  const made = turns.map(({ says = [], calls = [] }, i) => {
    const texts = [says].flat();
    return {
      user: evalCase.turns[i]?.user ?? 'Go on',
      texts,
      answer: texts.at(-1) ?? '',
      output: texts.at(-1),
      toolCalls: calls.map(callOf),
      expect: evalCase.turns[i]?.expect ?? {},
    };
  });
  return {
    case: evalCase,
    variant: 'v',
    trial: 1,
    status: 'completed',
    turns: made,
    answer: made.at(-1)?.answer ?? '',
    output: made.at(-1)?.output,
    toolCalls: made.flatMap(({ toolCalls }) => toolCalls),
    state: {},
    durationMs: 100,
    usage: { inputTokens: 10, outputTokens: 5 },
    steps: 1,
    session: await memorySession('app'),
    ...more,
  };
}

export async function scoreOf(
  scorer: Scorer,
  trial: TrialRecord,
): Promise<(Score & Pick<ScoreReport, 'passed'>) | undefined> {
  const found = await scorer.score(trial, { signal: new AbortController().signal });
  return found && { ...found, passed: found.score >= scorer.threshold };
}
