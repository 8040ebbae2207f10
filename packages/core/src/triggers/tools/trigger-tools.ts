import { checkOptions } from '../../base/invalid-option.ts';
import { isListOfText, type OptionCheck } from '../../base/options.ts';
import { type Tool, type ToolContext, tool } from '../../tools/tool.ts';
import { zoneFault } from '../schedules/zone.ts';
import { createTool } from './create-trigger.ts';
import {
  isRequester,
  isTriggers,
  ownTrigger,
  ownTriggers,
  reachOf,
  refused,
  type TriggerToolsOptions,
} from './own-triggers.ts';
import { toldTrigger } from './told-trigger.ts';

const name = { type: 'string', minLength: 1, maxLength: 100, description: 'Name of the trigger' };
const reason = { type: 'string', minLength: 1, maxLength: 200, description: 'Why, for the record' };

const isNames: OptionCheck = (value) =>
  isListOfText(value) === undefined && (value as readonly string[]).length > 0
    ? undefined
    : 'a list of at least one name of a runnable';
const isZone: OptionCheck = (value) => {
  const fault = typeof value === 'string' ? zoneFault(value) : 'it is no text';
  return fault === undefined ? undefined : `the name of a time zone: ${fault}`;
};

/**
 * Makes tools with which an agent makes and steers the triggers of one user: `create_trigger`,
 * `list_triggers`, `pause_trigger`, `resume_trigger` and `delete_trigger`. Triggers of others are
 * not there. A person approves each creation, with the next instants before their eyes, and each
 * deletion.
 * @throws InvalidOptionError
 * @example
 * ```ts
 * import { agent, memoryStore, rehearsal, type Runtime, runtime } from 'adjutant';
 * import { triggers, triggerTools } from 'adjutant/triggers';
 *
 * const assistant = agent({
 *   name: 'assistant',
 *   model: rehearsal(),
 *   tools: triggerTools({ triggers: () => app.triggers, requester: 'ann' }),
 * });
 * const app: Runtime = runtime({
 *   app: 'home',
 *   store: memoryStore(),
 *   runnables: [assistant],
 *   triggers: triggers(),
 * });
 * await app.close();
 * ```
 */
export function triggerTools(options: TriggerToolsOptions): readonly Tool[] {
  // `null` stands for a missing option, because the check ignores `undefined`.
  const given = { ...options, triggers: options?.triggers ?? null };
  const checks = { triggers: isTriggers, requester: isRequester, start: isNames, timeZone: isZone };
  checkOptions('triggerTools', given, checks);
  return [
    createTool(options),
    listTool(options),
    controlTool(options, {
      kind: 'pause',
      description:
        'Lets a trigger not fire. Use it when the user does not want its work for a while.',
      status: 'paused',
      done: 'It does not fire until it is resumed.',
    }),
    controlTool(options, {
      kind: 'resume',
      description: 'Lets a paused trigger fire again. What was due meanwhile is not made up for.',
      status: 'active',
      done: 'It fires again.',
    }),
    controlTool(options, {
      kind: 'delete',
      description:
        'Ends a trigger for good, and cancels the work that it has open. A person approves it.',
      status: 'deleted',
      done: 'It does not fire any more.',
    }),
  ];
}

function listTool(options: TriggerToolsOptions): Tool {
  return tool({
    name: 'list_triggers',
    description:
      'Tells what triggers the user has: what they fire on, when they fire next, and what came ' +
      'of them.',
    schema: { type: 'object', properties: {}, additionalProperties: false },
    readOnly: true,
    execute: async (ctx: ToolContext) => {
      const own = await ownTriggers(reachOf(options, ctx));
      return { triggers: own.map((one) => toldTrigger(one, options.timeZone ?? 'UTC')) };
    },
  });
}

interface Control {
  readonly kind: 'pause' | 'resume' | 'delete';
  readonly description: string;
  /** Status in which nothing is to be done any more. */
  readonly status: string;
  /** Sentence for the model. */
  readonly done: string;
}

type ControlContext = ToolContext<{ readonly name: string; readonly reason?: string }>;

/** Doing it again changes nothing: the command of a call that was cut off is given once more. */
function controlTool(options: TriggerToolsOptions, control: Control): Tool {
  const { kind, description, status, done } = control;
  const isDeletion = kind === 'delete';
  return tool({
    name: `${kind}_trigger`,
    description,
    schema: {
      type: 'object',
      properties: { name, reason },
      required: ['name'],
      additionalProperties: false,
    },
    idempotent: true,
    destructive: isDeletion,
    onRepeat: 'allow',
    ...(isDeletion ? { approval: true } : {}),
    // A trigger that is not there is refused before a person is asked.
    prepare: async (ctx: ControlContext) => {
      await ownTrigger(reachOf(options, ctx), ctx.args.name);
      return ctx.args;
    },
    execute: (ctx: ControlContext) =>
      refused(async () => {
        const reach = reachOf(options, ctx);
        const found = await ownTrigger(reach, ctx.args.name);
        const { reason: why = `The agent ${ctx.agent} was asked to.` } = ctx.args;
        if (found.status !== status)
          await reach.triggers[kind](found.name, { by: `user:${reach.requester}`, reason: why });
        return { trigger: found.name, text: done };
      }),
  });
}
