import { sha256 } from '../../base/hash.ts';
import { canonicalJson } from '../../base/json.ts';
import { modelName, toModel } from '../../models/model.ts';
import { modelOf } from '../../models/named-model.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';
import type { EvalCase } from '../dataset/eval-case.ts';
import type { EvalOptions, EvalVariant } from '../eval-options.ts';
import { definitionFingerprint } from './definition-fingerprint.ts';

/**
 * Names what is run for a case. What is expected of it is not in it: that is compared anew each
 * time.
 */
function caseFingerprint({ turns, scenario, data, state, userId, approvals }: EvalCase): string {
  return sha256(
    canonicalJson({
      turns: turns.map(({ user }) => user),
      scenario,
      data,
      state,
      userId,
      approvals,
    }),
  );
}

/**
 * Names how trials of a variant are run.
 * @param tools the tools that its app has for all agents
 */
export function variantFingerprint(
  variant: EvalVariant,
  tools: readonly Tool[],
  options: Pick<EvalOptions, 'timeoutMs' | 'limits' | 'userModel'>,
): string {
  const { timeoutMs, limits, userModel } = options;
  const { name, version } = variant;
  const runnable: unknown =
    'open' in variant
      ? String(variant.open)
      : definitionFingerprint(variant.runnable as Runnable, tools);
  return sha256(
    canonicalJson({
      name,
      version,
      runnable,
      timeout: timeoutMs,
      limits,
      userModel: userModel && modelName(toModel(modelOf(userModel))),
    }),
  );
}

/**
 * Names the session of a trial: the same for the same trial of the same definition in the same run
 * of an eval.
 */
export function trialSession(of: {
  evalName: string;
  runId: string;
  variant: string;
  variantFingerprint: string;
  case: EvalCase;
  trial: number;
}): string {
  const { evalName, runId, variant, variantFingerprint, trial } = of;
  const text = canonicalJson({
    evalName,
    variant,
    variantFingerprint,
    case: of.case.id,
    caseFingerprint: caseFingerprint(of.case),
    trial,
  });
  return `${runId}-${sha256(text).slice(0, 16)}`;
}
