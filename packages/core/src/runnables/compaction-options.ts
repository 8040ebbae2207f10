import {
  isCount,
  isCountOrNone,
  isGroup,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { ModelInput } from '../models/model.ts';
import { isNamedModel, modelOf, wrongName } from '../models/named-model.ts';

/** Limits that keep prompts within the model's window. */
export interface CompactionOptions {
  /**
   * Model that writes summaries of removed messages, or its name. Without it, removed messages are
   * only counted.
   * @default none
   */
  readonly model?: ModelInput | string;
  /**
   * Share of the window at which old messages are summarised, if there is a model for it. @default
   * 0.7
   */
  readonly compactAt?: number;
  /** Share of the window at which old messages are left out. @default 0.8 */
  readonly trimAt?: number;
  /** Messages that stay when old ones are left out. @default 40 */
  readonly keep?: number;
  /**
   * Messages that stay, besides the summary that covers them too; fewer when they are larger than
   * 20 % of the window. @default 3
   */
  readonly overlap?: number;
  /**
   * Share of the window that one tool result may take in a prompt, with 4 characters to a token; at
   * least 2,000 characters are shown. @default 0.3
   */
  readonly resultShare?: number;
  /** Most characters of one tool result in a prompt, whatever the window is. @default 400_000 */
  readonly resultCharacters?: number;
  /**
   * Times that a prompt is made shorter after the provider refused it as too long; then the agent
   * fails. @default 3
   */
  readonly recoveries?: number;
}

const isShare: OptionCheck = (value) =>
  typeof value === 'number' && value > 0 && value <= 1 ? undefined : 'a number above 0, at most 1';

const checks: OptionChecks<CompactionOptions> = {
  model: isNamedModel,
  compactAt: isShare,
  trimAt: isShare,
  keep: isCount,
  overlap: isCountOrNone,
  resultShare: isShare,
  resultCharacters: isCount,
  recoveries: isCountOrNone,
};

/** Requirement on the option `compaction`. */
export const isCompaction: OptionCheck = (value) => {
  const wrong = value === false ? undefined : isGroup(checks)(value);
  if (wrong !== undefined || value === false) return wrong;
  const { model, compactAt, trimAt } = value as CompactionOptions;
  const name = wrongName(model);
  if (name !== undefined) return `an object with another \`model\`: ${name}`;
  const neverSummarised = compactAt !== undefined && trimAt !== undefined && compactAt > trimAt;
  return neverSummarised
    ? `an object whose \`compactAt\` is at most its \`trimAt\` (${trimAt}), not ${compactAt}`
    : undefined;
};

/**
 * Compaction with the defaults filled in. Recovery from prompts that the provider refused has them
 * too when the guards are off.
 */
export interface ResolvedCompaction {
  readonly isOn: boolean;
  readonly model: ModelInput | undefined;
  readonly compactAt: number;
  readonly trimAt: number;
  readonly keep: number;
  readonly overlap: number;
  readonly resultShare: number;
  readonly resultCharacters: number;
  readonly recoveries: number;
}

type Given = CompactionOptions | false | undefined;

/** Compaction of an agent: its own options before those of its runtime, option by option. */
export function resolveCompaction(runtime: Given, agent: Given): ResolvedCompaction {
  const shared = runtime === false ? undefined : runtime;
  const own = agent === false ? undefined : agent;
  const model = own?.model ?? shared?.model;
  return Object.freeze({
    isOn: agent === undefined ? runtime !== false : agent !== false,
    model: model === undefined ? undefined : modelOf(model),
    compactAt: own?.compactAt ?? shared?.compactAt ?? 0.7,
    trimAt: own?.trimAt ?? shared?.trimAt ?? 0.8,
    keep: own?.keep ?? shared?.keep ?? 40,
    overlap: own?.overlap ?? shared?.overlap ?? 3,
    resultShare: own?.resultShare ?? shared?.resultShare ?? 0.3,
    resultCharacters: own?.resultCharacters ?? shared?.resultCharacters ?? 400_000,
    recoveries: own?.recoveries ?? shared?.recoveries ?? 3,
  });
}
