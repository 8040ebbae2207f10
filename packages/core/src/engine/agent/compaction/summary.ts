import { CancelScope } from '../../../base/cancel-scope.ts';
import type { CompactionPlan } from '../../../context/compaction-plan.ts';
import type { History } from '../../../context/history.ts';
import { truncateText } from '../../../context/truncate.ts';
import type { ModelInput } from '../../../models/model.ts';
import { invoke } from '../../invoke/invoke.ts';
import type { CompactionParts } from './compaction-parts.ts';
import { recordCompaction } from './compaction-record.ts';
import { planHistory } from './history-plan.ts';
import { summariser } from './summariser.ts';

/** Share of the window that a summary must free to be worth a model call. */
const leastFreed = 0.05;
/** Share of the window for messages that stay beside a summary that covers them. */
const mostOverlap = 0.2;
/** Largest size of a summary, as a share of the content that it replaces. */
const mostOfFreed = 0.5;
const summaryTimeoutMs = 120_000;

/** Prompt that a summary is to make shorter. */
export interface SummaryRequest {
  /** Model that writes the summary. */
  readonly model: ModelInput;
  /** Most messages that stay although the summary covers them. */
  readonly overlap: number;
  /** Tokens of the prompt. */
  readonly tokens: number;
  /** Tokens that the window of the agent's model holds. */
  readonly window: number;
  /** Sentence that says why the prompt must become shorter. */
  readonly why: string;
}

/**
 * Makes a summary with a child of the agent. So the summary is recorded, paid for and continued
 * like every other call.
 * @returns `useless` when a summary would free too little to be worth a model call
 */
export async function summariseHistory(
  parts: CompactionParts,
  { model, overlap: mostMessages, tokens, window, why }: SummaryRequest,
): Promise<'done' | 'stopped' | 'failed' | 'useless'> {
  const { frame, position, prompts } = parts;
  const { run, record } = frame;
  const { history } = prompts;
  const path = `${record.path}/compaction#${position.prompt.compactions + 1}`;
  if (history === undefined) return 'useless';
  // A summary by a child of a stopped process does not contain the events since the child began.
  const before = run.ledger.invocations.byPath.get(path)?.start.seq;
  const { plan, overlap } = planSummary(parts, history, { window, mostMessages, before });
  if (plan === undefined || prompts.gauge.tokens(plan.freed) < window * leastFreed)
    return 'useless';
  const text = await writeSummary(parts, path, model);
  if (text === undefined) return 'stopped';
  if (text === '') return 'failed';
  // A summary that is longer than its share would free too little room, and would stay.
  const longest = Math.floor(plan.freed * mostOfFreed);
  const cut =
    text.length > longest
      ? ` The summary was cut off at ${longest} characters: it had ${text.length}.`
      : '';
  recordCompaction(parts, plan, {
    strategy: 'summary',
    reason: 'window',
    summary: `Summary of the conversation so far:\n${truncateText(text, longest)}`,
    overlap,
    tokensBefore: tokens,
    freed: plan.freed,
    reasoning:
      `${why} ${plan.messages} messages were summarised; the ` +
      `newest ${overlap} of what the summary covers stay.${cut}`,
  });
  return 'done';
}

/**
 * Returns the text of the summary: empty when the child gave none, `undefined` when the agent was
 * stopped meanwhile.
 */
async function writeSummary(
  { agent, frame, prompts, work }: CompactionParts,
  path: string,
  model: ModelInput,
): Promise<string | undefined> {
  const { run, scope, activity } = frame;
  const ended = await invoke(run, {
    path,
    runnable: summariser(agent.name, model, prompts.shown),
    mode: 'call',
    scope: new CancelScope(work),
    activity,
    timeoutMs: summaryTimeoutMs,
  });
  if (ended === undefined || scope.aborted || work.aborted) return undefined;
  const { status, output, stopReason = 'output_limit' } = ended;
  return status === 'completed' && typeof output === 'string' && stopReason === 'output_limit'
    ? output.trim()
    : '';
}

/**
 * Returns the plan with as much overlap as there is room for. Large results that stay would make
 * the next summary due at once.
 */
function planSummary(
  parts: CompactionParts,
  history: History,
  most: {
    readonly window: number;
    readonly mostMessages: number;
    readonly before: number | undefined;
  },
): { readonly plan: CompactionPlan | undefined; readonly overlap: number } {
  const room = parts.prompts.gauge.characters(most.window * mostOverlap);
  for (let overlap = most.mostMessages; ; overlap--) {
    const plan = planHistory(parts, history, { keep: 0, room: 0, overlap }, most.before);
    if (overlap === 0 || (plan !== undefined && plan.kept <= room)) return { plan, overlap };
  }
}
