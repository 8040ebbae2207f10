import { CancelScope } from '../../../base/cancel-scope.ts';
import type { JsonObject } from '../../../base/json.ts';
import { type CompactionPlan, planCompaction } from '../../../context/compaction-plan.ts';
import { eventSize } from '../../../context/event-size.ts';
import type { History } from '../../../context/history.ts';
import { lengthOf } from '../../../context/message-encoder.ts';
import { charactersPerToken } from '../../../context/token-gauge.ts';
import { resultLimit, truncateText } from '../../../context/truncate.ts';
import type { CompactionStrategy, Event, EventDraft, EventOf } from '../../../ledger/event.ts';
import type { Position } from '../../../loop/position.ts';
import { type Model, modelName } from '../../../models/model.ts';
import type { Agent } from '../../../runnables/agent.ts';
import {
  type ResolvedCompaction,
  resolveCompaction,
} from '../../../runnables/compaction-options.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { invoke } from '../../invoke/invoke.ts';
import type { AgentPrompts, PreparedCall } from '../prompts.ts';
import { summariser } from './summariser.ts';

export interface AgentCompactionParts {
  readonly frame: BodyFrame;
  readonly agent: Agent;
  readonly position: Position;
  readonly prompts: AgentPrompts;
  /** Scope of all work that the agent has started. An unfinished summary ends with it. */
  readonly work: CancelScope;
  /** Returns the step to a model with a larger window; `undefined` when there is none. */
  readonly largerWindow: () => EventDraft | undefined;
}

/**
 * Limits after a refused prompt: most characters of a tool result, and most messages as the last
 * resort.
 */
const shortResults = 2_000;
const lastMessages = 5;
/**
 * Share of a threshold that the remaining prompt may have, so that the next compaction is not due
 * at once.
 */
const roomToKeep = 0.5;
/** Share of the window that a summary must free to be worth a model call. */
const leastFreed = 0.05;
/** Share of the window for messages that stay beside a summary that covers them. */
const mostOverlap = 0.2;
/** Largest size of a summary, as a share of the content that it replaces. */
const mostOfFreed = 0.5;
const summaryTimeoutMs = 120_000;

/** Recorded facts of one compaction, besides the events that it covers. */
interface Compacted {
  readonly strategy: CompactionStrategy;
  readonly reason: 'window' | 'overflow';
  readonly summary: string;
  readonly overlap?: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly resultLimit?: number;
  readonly reasoning: string;
}

/** Keeps the prompts of one agent invocation within the window of its model. */
export class AgentCompaction {
  readonly #parts: AgentCompactionParts;
  readonly #options: ResolvedCompaction;

  constructor(parts: AgentCompactionParts) {
    this.#parts = parts;
    this.#options = resolveCompaction(parts.frame.run.app.compaction, parts.agent.compaction);
  }

  /**
   * Checks a prompt before it is sent. Returns `false` at once when it is to be sent as it is.
   * @returns true when the prompt is not to be sent: a compaction was recorded, or the agent was
   * stopped
   */
  guard({ tokens, characters, options }: PreparedCall, model: Model): Promise<boolean> | false {
    const { isOn, compactAt, trimAt } = this.#options;
    if (!isOn) return false;
    const window = this.#windowOf(model, options.maxOutputTokens);
    if (tokens < window * Math.min(compactAt, trimAt)) return false;
    return this.#makeRoom(tokens, characters, window, model);
  }

  /**
   * Returns the most tokens of a prompt, by the window of the model and the prompts that it has
   * refused.
   */
  #windowOf(model: Model, maxOutputTokens: number | undefined): number {
    const window = this.#parts.prompts.windowOf(model);
    const left = window - (maxOutputTokens ?? model.settings.maxTokens ?? 0);
    return Math.min(
      left > 0 ? left : window,
      this.#parts.prompts.gauge.refusedBy(modelName(model)),
    );
  }

  async #makeRoom(
    tokens: number,
    characters: number,
    window: number,
    model: Model,
  ): Promise<boolean> {
    const { compactAt, trimAt, model: summaryModel, keep } = this.#options;
    if (summaryModel !== undefined && tokens >= window * compactAt) {
      const summarised = await this.#summarise(tokens, window, model);
      if (summarised !== 'failed' && summarised !== 'useless') return true;
      // Messages that cannot be summarised are left out at once. Otherwise a summary would be tried
      // again before each call.
      if (summarised === 'useless' && tokens < window * trimAt) return false;
    } else if (tokens < window * trimAt) return false;
    const room =
      this.#parts.prompts.gauge.characters(window * trimAt * roomToKeep) - this.#fixed(characters);
    return this.#trim({
      strategy: 'trim',
      reason: 'window',
      keep,
      room,
      tokens,
      why: shareText(tokens, window, model),
    });
  }

  /** Returns the characters of a prompt outside its history: instructions, tools, settings. */
  #fixed(characters: number): number {
    const { history } = this.#parts.prompts;
    history?.messages();
    return Math.max(0, characters - (history?.characters ?? 0));
  }

  /**
   * Makes the prompt shorter after the provider has refused it as too long. When nothing more can
   * be left out, a model with a larger window is used, or the agent fails.
   */
  recover(model: Model): Promise<void> {
    const { frame, position, prompts } = this.#parts;
    const characters = (position.model.call?.start.estimatedInputTokens ?? 0) * charactersPerToken;
    const tokens = prompts.gauge.tokens(characters);
    const why = `${modelName(model)} refused the prompt of about ${tokens} tokens as too long.`;
    const { keep } = this.#options;
    const recovered =
      this.#trim({
        strategy: 'trim',
        reason: 'overflow',
        keep,
        room: characters * roomToKeep - this.#fixed(characters),
        tokens,
        why,
      }) ||
      this.#shortenResults(tokens, model, why) ||
      this.#trim({
        strategy: 'last',
        reason: 'overflow',
        keep: lastMessages,
        room: Number.POSITIVE_INFINITY,
        tokens,
        why,
      });
    if (!recovered)
      frame.run.ledger.append([
        this.#parts.largerWindow() ?? giveUpDraft(frame.record.path, tokens, model),
      ]);
    return Promise.resolve();
  }

  #plan(
    history: History,
    request: { keep: number; room: number; overlap: number },
    before = Number.POSITIVE_INFINITY,
  ): CompactionPlan | undefined {
    const { frame, prompts } = this.#parts;
    const { resolve, invocations } = frame.run.ledger;
    const { path } = frame.record;
    return planCompaction({
      ...request,
      events: history.events().filter(({ seq }) => seq < before),
      path,
      began: invocations.byPath.get(path.split('/')[0] ?? path)?.start.seq ?? 0,
      seen: prompts.gauge.seen,
      isCovered: (event) => history.isCovered(event),
      sizeOf: (event) => eventSize(event, history.resultLimit, resolve),
    });
  }

  /**
   * Makes a summary with a child of the agent. So the summary is recorded, paid for and continued
   * like every other call.
   */
  async #summarise(
    tokens: number,
    window: number,
    model: Model,
  ): Promise<'done' | 'stopped' | 'failed' | 'useless'> {
    const { frame, agent, position, prompts, work } = this.#parts;
    const { run, record, scope, activity } = frame;
    const { history } = prompts;
    const path = `${record.path}/compaction#${position.prompt.compactions + 1}`;
    const { model: summaryModel } = this.#options;
    if (history === undefined || summaryModel === undefined) return 'useless';
    // A summary by a child of a stopped process does not contain the events since the child began.
    const { plan, overlap } = this.#planSummary(
      history,
      window,
      run.ledger.invocations.byPath.get(path)?.start.seq,
    );
    if (plan === undefined || prompts.gauge.tokens(plan.freed) < window * leastFreed)
      return 'useless';
    const runnable = summariser(agent.name, summaryModel, prompts.shown);
    const ended = await invoke(run, {
      path,
      runnable,
      mode: 'call',
      scope: new CancelScope(work),
      activity,
      timeout: summaryTimeoutMs,
    });
    if (ended === undefined || scope.aborted || work.aborted) return 'stopped';
    const { status, output, stopReason } = ended;
    const text =
      status === 'completed' &&
      typeof output === 'string' &&
      (stopReason ?? 'output_limit') === 'output_limit'
        ? output.trim()
        : '';
    if (text === '') return 'failed';
    // A summary that is longer than its share would free too little room, and would stay.
    const longest = Math.floor(plan.freed * mostOfFreed);
    const summary = `Summary of the conversation so far:\n${truncateText(text, longest)}`;
    const cut =
      text.length > longest
        ? ` The summary was cut off at ${longest} characters: it had ${text.length}.`
        : '';
    this.#record(plan, {
      strategy: 'summary',
      reason: 'window',
      summary,
      overlap,
      tokensBefore: tokens,
      tokensAfter: this.#tokensAfter(tokens, plan.freed, summary),
      reasoning:
        `${shareText(tokens, window, model)} ${plan.messages} messages were summarised; the ` +
        `newest ${overlap} of what the summary covers stay.${cut}`,
    });
    return 'done';
  }

  /**
   * Returns the plan with as much overlap as there is room for. Large results that stay would make
   * the next summary due at once.
   */
  #planSummary(
    history: History,
    window: number,
    before: number | undefined,
  ): { readonly plan: CompactionPlan | undefined; readonly overlap: number } {
    const room = this.#parts.prompts.gauge.characters(window * mostOverlap);
    for (let { overlap } = this.#options; ; overlap--) {
      const plan = this.#plan(history, { keep: 0, room: 0, overlap }, before);
      if (overlap === 0 || (plan !== undefined && plan.kept <= room)) return { plan, overlap };
    }
  }

  #trim(request: {
    readonly strategy: 'trim' | 'last';
    readonly reason: 'window' | 'overflow';
    readonly keep: number;
    readonly room: number;
    readonly tokens: number;
    readonly why: string;
  }): boolean {
    const { strategy, reason, keep, room, tokens, why } = request;
    const { history } = this.#parts.prompts;
    const plan =
      history === undefined ? undefined : this.#plan(history, { keep, room, overlap: 0 });
    if (plan === undefined) return false;
    const resolve = this.#parts.frame.run.ledger.resolve;
    const total = plan.replaced.reduce(
      (sum, { dropped }) => sum + leftOutBefore(dropped),
      plan.messages,
    );
    const summary = [
      ...plan.replaced.map((compaction) => withoutNote(compaction, resolve)),
      leftOutNote(total),
    ]
      .filter((text) => text !== '')
      .join('\n');
    const reasoning =
      `${why} ${plan.messages} messages were left out: the newest stay, at ` + `most ${keep}.`;
    const tokensAfter = this.#tokensAfter(tokens, plan.freed, summary);
    this.#record(
      { ...plan, dropped: { ...plan.dropped, leftOut: total } },
      { strategy, reason, summary, tokensBefore: tokens, tokensAfter, reasoning },
    );
    return true;
  }

  #shortenResults(tokens: number, model: Model, why: string): boolean {
    const { position, prompts, frame } = this.#parts;
    const limit = Math.min(
      position.prompt.resultLimit ?? Number.POSITIVE_INFINITY,
      resultLimit(prompts.windowOf(model)),
    );
    const { resolve } = frame.run.ledger;
    let freed = 0;
    for (const event of prompts.history?.events() ?? []) {
      if (event.type === 'tool_result')
        freed += Math.max(
          0,
          Math.min(limit, lengthOf(resolve(event.result.content))) - shortResults,
        );
    }
    if (freed === 0 || limit <= shortResults) return false;
    this.#record(nothingCovered, {
      strategy: 'shorten',
      reason: 'overflow',
      summary: '',
      resultLimit: shortResults,
      tokensBefore: tokens,
      tokensAfter: this.#tokensAfter(tokens, freed, ''),
      reasoning: `${why} Tool results are shortened to ${shortResults} characters.`,
    });
    return true;
  }

  #tokensAfter(tokens: number, freed: number, summary: string): number {
    return Math.max(
      0,
      tokens -
        this.#parts.prompts.gauge.tokens(freed) +
        this.#parts.prompts.gauge.tokens(summary.length),
    );
  }

  #record(
    { covers, dropped }: Pick<CompactionPlan, 'covers' | 'dropped'>,
    compacted: Compacted,
  ): void {
    const { run, record } = this.#parts.frame;
    const {
      strategy,
      reason,
      summary,
      overlap = 0,
      tokensBefore,
      tokensAfter,
      resultLimit: limit,
      reasoning,
    } = compacted;
    const by = 'runtime';
    const invocationId = record.path;
    run.ledger.append([
      {
        type: 'decision',
        by,
        invocationId,
        component: 'context',
        decision: decisionNames[strategy],
        reasoning,
        alternatives:
          strategy === 'summary'
            ? ['leave it out']
            : ['summarise: give `compaction.model`', 'use a model with a larger window'],
        data: { strategy, reason, tokensBefore, tokensAfter, dropped },
      },
      {
        type: 'compaction',
        by,
        invocationId,
        strategy,
        reason,
        covers,
        overlap,
        summary,
        ...(limit === undefined ? {} : { resultLimit: limit }),
        tokensBefore,
        tokensAfter,
        dropped,
      },
    ]);
  }
}

const nothingCovered = { covers: [], dropped: {} } as const;
const decisionNames: Readonly<Record<CompactionStrategy, string>> = {
  summary: 'compact',
  trim: 'trim',
  last: 'trim',
  shorten: 'shorten',
};

function shareText(tokens: number, window: number, model: Model): string {
  return (
    `The prompt has about ${tokens} tokens, ${Math.round((100 * tokens) / window)} % of the ` +
    `${Math.floor(window)} that ${modelName(model)} takes.`
  );
}

function leftOutNote(messages: number): string {
  return `[${messages} earlier messages were left out here to make room.]`;
}

function leftOutBefore(dropped: JsonObject | undefined): number {
  return typeof dropped?.['leftOut'] === 'number' ? dropped['leftOut'] : 0;
}

/**
 * Returns the text of a replaced summary without its note about left-out messages: their count is
 * made anew.
 */
function withoutNote(
  { summary, dropped }: EventOf<'compaction'>,
  resolve: (value: unknown) => unknown,
): string {
  const text = String(resolve(summary));
  const note = leftOutNote(leftOutBefore(dropped));
  return text.endsWith(note) ? text.slice(0, -note.length).trimEnd() : text;
}

function giveUpDraft(
  path: string,
  tokens: number,
  model: Model,
): Omit<EventOf<'decision'>, keyof Pick<Event, 'v' | 'seq' | 'id' | 'at'>> {
  const name = modelName(model);
  const message =
    `The prompt of about ${tokens} tokens is too long for ${name}, and nothing more can be ` +
    'left out of it. ' +
    'Make the instructions or the input shorter, offer fewer tools, let tools return less, ' +
    'or use a model with a larger window.';
  return {
    type: 'decision',
    by: 'runtime',
    invocationId: path,
    component: 'context',
    decision: 'give_up',
    reasoning: message,
    alternatives: [],
    data: { failure: { name: 'ModelError', code: 'model_context_overflow', message } },
  };
}
