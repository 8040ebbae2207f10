import { isAdjutantError } from '../../base/error.ts';
import { describeValue, isNonEmptyText, type OptionCheck } from '../../base/options.ts';
import { requesterOf } from '../../ledger/folds/task.ts';
import { ToolFailure } from '../../tools/errors.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { TriggerInfo } from '../service/trigger-row.ts';
import type { TriggerService } from '../service/trigger-service.ts';

/** Triggers that the tools work with: `app.triggers`. */
export type TriggerCommands = Pick<
  TriggerService,
  'list' | 'get' | 'create' | 'pause' | 'resume' | 'delete'
>;

/** Options of the tools with which agents make and steer triggers. */
export interface TriggerToolsOptions {
  /**
   * The triggers, or a function that gives them: an agent is mostly made before its app. The tools
   * reach the triggers of that tenant only.
   */
  readonly triggers: TriggerCommands | ((ctx: ToolContext) => TriggerCommands);
  /**
   * User whose triggers the tools reach, or a function that gives the user.
   * @default the requester of the task that the run belongs to, else 'system'
   */
  readonly requester?: string | ((ctx: ToolContext) => string);
  /**
   * Names of the runnables that a trigger may start; the first one when the model names none.
   * @default the agent that makes the trigger
   */
  readonly start?: readonly string[];
  /** Zone of local times when the model names none. @default 'UTC' */
  readonly timeZone?: string;
}

/** The triggers of an app, and the user whose they are. */
export interface TriggerReach {
  readonly triggers: TriggerCommands;
  readonly requester: string;
}

const mostListed = 1_000;
const mostNamed = 20;

export const isTriggers: OptionCheck = (value) => {
  if (typeof value === 'function') return undefined;
  const { create, list } = (value ?? {}) as Partial<TriggerCommands>;
  return typeof list === 'function' && typeof create === 'function'
    ? undefined
    : '`app.triggers`, or a function that returns it';
};

export const isRequester: OptionCheck = (value) =>
  typeof value === 'function' || isNonEmptyText(value) === undefined
    ? undefined
    : 'the id of a user, or a function that returns it';

/** Returns the triggers that a call reaches. @throws ToolFailure when the app has none */
export function reachOf(options: TriggerToolsOptions, ctx: ToolContext): TriggerReach {
  const { requester: given, triggers } = options;
  const named = typeof given === 'function' ? given(ctx) : given;
  const requester = named ?? requesterOf(ctx.session.events, ctx.invocationId);
  const wrong = isNonEmptyText(requester);
  if (wrong !== undefined)
    throw new ToolFailure(
      `The requester of the triggers is ${describeValue(requester)}, not ${wrong}.`,
      { errorType: 'invalid_requester' },
    );
  const found = typeof triggers === 'function' ? appTriggers(() => triggers(ctx)) : triggers;
  return { triggers: found, requester };
}

function appTriggers(find: () => TriggerCommands): TriggerCommands {
  try {
    return find();
  } catch (cause) {
    if (!isAdjutantError(cause, 'invalid_runtime')) throw cause;
    throw new ToolFailure('This app has no triggers, so nothing can be started by itself.', {
      errorType: 'triggers_missing',
      alternatives: ['Tell the user that whoever runs the app has to set triggers up first.'],
      cause,
    });
  }
}

/** Returns the triggers of the requester, without deleted ones, in the order of their creation. */
export async function ownTriggers({
  requester,
  triggers,
}: TriggerReach): Promise<readonly TriggerInfo[]> {
  // One without a requester is that of the system, and has no user by which it is listed.
  if (requester !== 'system') return triggers.list({ requester, limit: mostListed });
  return (await triggers.list({ limit: mostListed })).filter((one) => isOwn(one, requester));
}

/** Returns a trigger by its name, also a deleted one; `undefined` when nobody has it. */
export async function triggerNamed(
  { triggers }: TriggerReach,
  name: string,
): Promise<TriggerInfo | undefined> {
  try {
    return await triggers.get(name);
  } catch (error) {
    if (isAdjutantError(error, 'trigger_not_found')) return undefined;
    throw error;
  }
}

/** Returns a trigger of the requester. @throws ToolFailure */
export async function ownTrigger(reach: TriggerReach, name: string): Promise<TriggerInfo> {
  const found = await triggerNamed(reach, name);
  if (found !== undefined && isOwn(found, reach.requester)) return found;
  const own = (await ownTriggers(reach)).map((one) => `${one.name} (${one.status})`);
  throw new ToolFailure(`The user has no trigger "${name}".`, {
    errorType: 'trigger_not_found',
    alternatives: own.slice(0, mostNamed),
  });
}

export function isOwn(trigger: TriggerInfo, requester: string): boolean {
  return (trigger.requester ?? 'system') === requester;
}

/** Turns a refusal into a result with advice for the model. */
export async function refused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error);
  }
}

/** Returns the failure that a model is told of in the place of a refusal. */
export function failureOf(error: unknown): unknown {
  if (isAdjutantError(error, 'invalid_trigger'))
    return new ToolFailure(`The trigger cannot be set up: ${error.data['reason']}.`, {
      errorType: error.code,
      cause: error,
    });
  return isAdjutantError(error, 'trigger_state')
    ? new ToolFailure(error.message, { errorType: error.code, cause: error })
    : error;
}
