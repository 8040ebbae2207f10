import { charactersPerToken } from '../../../context/token-gauge.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import { type Model, modelName } from '../../../models/model.ts';
import type { ResolvedCompaction } from '../../../runnables/compaction-options.ts';
import type { PreparedCall } from '../prompts.ts';
import type { CompactionParts } from './compaction-parts.ts';
import { shortenResults } from './short-results.ts';
import { summariseHistory } from './summary.ts';
import { trimHistory } from './trim.ts';

/** Most messages after a refused prompt, as the last resort. */
const lastMessages = 5;
/**
 * Share of a threshold that the remaining prompt may have, so that the next compaction is not due
 * at once.
 */
const roomToKeep = 0.5;

/** Keeps the prompts of one agent invocation within the window of its model. */
export class AgentCompaction {
  readonly #parts: CompactionParts;
  readonly #options: ResolvedCompaction;

  constructor(parts: CompactionParts) {
    this.#parts = parts;
    this.#options = parts.compaction;
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
    const { compactAt, trimAt, model: summaryModel, keep, overlap } = this.#options;
    const why = shareText(tokens, window, model);
    if (summaryModel !== undefined && tokens >= window * compactAt) {
      const request = { model: summaryModel, overlap, tokens, window, why };
      const summarised = await summariseHistory(this.#parts, request);
      if (summarised !== 'failed' && summarised !== 'useless') return true;
      // Messages that cannot be summarised are left out at once. Otherwise a summary would be tried
      // again before each call.
      if (summarised === 'useless' && tokens < window * trimAt) return false;
    } else if (tokens < window * trimAt) return false;
    const room =
      this.#parts.prompts.gauge.characters(window * trimAt * roomToKeep) - this.#fixed(characters);
    return trimHistory(this.#parts, {
      strategy: 'trim',
      reason: 'window',
      keep,
      room,
      tokens,
      why,
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
      trimHistory(this.#parts, {
        strategy: 'trim',
        reason: 'overflow',
        keep,
        room: characters * roomToKeep - this.#fixed(characters),
        tokens,
        why,
      }) ||
      shortenResults(this.#parts, { tokens, model, why }) ||
      trimHistory(this.#parts, {
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
}

function shareText(tokens: number, window: number, model: Model): string {
  return (
    `The prompt has about ${tokens} tokens, ${Math.round((100 * tokens) / window)} % of the ` +
    `${Math.floor(window)} that ${modelName(model)} takes.`
  );
}

function giveUpDraft(path: string, tokens: number, model: Model): EventDraft {
  const name = modelName(model);
  const message =
    `The prompt of about ${tokens} tokens is too long for ${name}, and nothing more can be ` +
    'left out of it. ' +
    'Make the instructions or the input shorter, offer fewer tools, let tools return less, ' +
    'or use a model with a larger window.';
  return decision('context', 'give_up', {
    invocationId: path,
    reasoning: message,
    alternatives: [],
    data: { failure: { name: 'ModelError', code: 'model_context_overflow', message } },
  });
}
