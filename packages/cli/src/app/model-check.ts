import type { Agent, ModelInput, Runnable } from 'adjutant';
import { AdjutantError, isAdjutantError } from 'adjutant';
import type { ConfiguredApp } from '../modules/load-module.ts';
import { shownName } from '../modules/load-module.ts';
import { partsOf } from './agents.ts';

/** Error for a model of the user's app that cannot be called for want of a key or a package. */
class UnusableModelError extends AdjutantError<string> {
  constructor(code: string, data: { file: string; agent: string; reason: string }) {
    super(code, `${data.file}: the agent "${data.agent}" cannot be run: ${data.reason}`, data);
  }
}

/**
 * Checks that the models of a runnable, and of all that it contains, can be called. An agent with
 * fallback models needs one of its models.
 * @throws UnusableModelError
 */
export async function checkModels(
  runnable: Runnable,
  configured: ConfiguredApp,
  checked: Set<Runnable> = new Set(),
): Promise<void> {
  if (checked.has(runnable)) return;
  checked.add(runnable);
  if (runnable.kind === 'agent') await checkAgent(runnable as Agent, configured);
  for (const part of partsOf(runnable)) await checkModels(part, configured, checked);
}

async function checkAgent(
  { name, model, fallbackModels }: Agent,
  configured: ConfiguredApp,
): Promise<void> {
  const problems = await Promise.all([model, ...fallbackModels].map(problemOf));
  const [first] = problems;
  if (first === undefined || problems.includes(undefined)) return;
  throw new UnusableModelError(first.code, {
    file: shownName(configured),
    agent: name,
    reason: first.message,
  });
}

/** The missing key or package of a model. `undefined`: it can be called. */
async function problemOf(model: ModelInput): Promise<AdjutantError | undefined> {
  try {
    if ('load' in model) await model.load();
    return undefined;
  } catch (error) {
    if (isAdjutantError(error, 'missing_key') || isAdjutantError(error, 'missing_package'))
      return error;
    throw error;
  }
}
