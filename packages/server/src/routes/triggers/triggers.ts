import { isAdjutantError } from 'adjutant';
import { defined } from 'adjutant/text';
import type { TriggerInfo, TriggerOptions } from 'adjutant/triggers';
import { isBegunBefore } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { reachableAgent } from '../../http/reachable.ts';
import { addRoute, defineRoute, type RouteInput } from '../../http/route.ts';
import {
  newTriggerSchema,
  type TriggerAnswer,
  triggerChangeSchema,
  triggerHistoryQuerySchema,
  triggerHistorySchema,
  triggerListSchema,
  triggerPathSchema,
  triggerSchema,
  triggersQuerySchema,
} from '../../schemas/trigger.ts';
import {
  isTriggerInReach,
  reachableTrigger,
  reachableTriggers,
  triggersOf,
} from './reachable-trigger.ts';
import { triggerOptions } from './trigger-options.ts';

const tag = 'Triggers';

const listTriggers = defineRoute({
  method: 'get',
  path: '/v1/triggers',
  permission: 'read',
  operationId: 'listTriggers',
  tag,
  summary: 'Triggers in the order in which they were made',
  query: triggersQuerySchema,
  answers: { 200: { description: 'The triggers', schema: triggerListSchema } },
});

const createTrigger = defineRoute({
  method: 'post',
  path: '/v1/triggers',
  permission: 'operate',
  operationId: 'createTrigger',
  tag,
  summary: 'Makes a trigger by data: on a schedule, or on published events',
  description:
    'It is stored, and any worker of the app fires it. What cannot be is refused with 400 ' +
    '`invalid_trigger`, a name that is in use with 409 `trigger_state`. Events belong to the ' +
    'whole tenant: a credential that is bound to a user or to agents makes no trigger on them.',
  body: newTriggerSchema,
  answers: {
    201: {
      description: 'The trigger is stored',
      schema: triggerSchema,
      headers: { Location: 'Address of the trigger.' },
    },
  },
});

const getTrigger = defineRoute({
  method: 'get',
  path: '/v1/triggers/{trigger}',
  permission: 'read',
  operationId: 'getTrigger',
  tag,
  summary: 'One trigger, with its next instant and its last firing',
  params: triggerPathSchema,
  answers: { 200: { description: 'The trigger', schema: triggerSchema } },
});

const updateTrigger = defineRoute({
  method: 'patch',
  path: '/v1/triggers/{trigger}',
  permission: 'operate',
  operationId: 'updateTrigger',
  tag,
  summary: 'Changes a trigger that was made by data',
  description:
    'Options that are not named stay, and `null` takes one away. Nothing before the change is ' +
    'considered. A trigger with functions or secrets is changed in code.',
  params: triggerPathSchema,
  body: triggerChangeSchema,
  answers: { 200: { description: 'The trigger as it is now', schema: triggerSchema } },
});

const listHistory = defineRoute({
  method: 'get',
  path: '/v1/triggers/{trigger}/history',
  permission: 'read',
  operationId: 'listTriggerHistory',
  tag,
  summary: 'History of a trigger, the last entry first',
  params: triggerPathSchema,
  query: triggerHistoryQuerySchema,
  answers: { 200: { description: 'The entries', schema: triggerHistorySchema } },
});

const addListTriggers: AddRoutes = (api) => {
  addRoute(api, listTriggers, async (input) => {
    const { limit, status } = input.query;
    const found = await reachableTriggers(input, { limit, ...defined({ statuses: status }) });
    return { status: 200, body: { triggers: found.map(triggerAnswer) } };
  });
};

const addCreateTrigger: AddRoutes = (api) => {
  addRoute(api, createTrigger, async (input) => {
    const { body, principal } = input;
    const triggers = triggersOf(input);
    reachableAgent(input, body.start);
    const requester = body.requester ?? principal.user;
    const options = triggerOptions(input, { ...body, ...defined({ requester }) });
    const made = await triggers
      .create(options as TriggerOptions, { by: principal.actor })
      .catch((error: unknown) => madeBefore(input, body.name, error));
    const headers = { location: `/v1/triggers/${encodeURIComponent(made.name)}` };
    return { status: 201, body: triggerAnswer(made), headers };
  });
};

/** The trigger that the same request has made before, when its answer was lost. */
async function madeBefore(
  input: RouteInput<unknown, unknown, unknown>,
  name: string,
  error: unknown,
): Promise<TriggerInfo> {
  if (!isAdjutantError(error, 'trigger_state') || !isBegunBefore(input)) throw error;
  const found = await triggersOf(input).get(name);
  if (!isTriggerInReach(input, found)) throw error;
  return found;
}

const addGetTrigger: AddRoutes = (api) => {
  addRoute(api, getTrigger, async (input) => {
    const found = await reachableTrigger(input, input.params.trigger);
    return { status: 200, body: triggerAnswer(found) };
  });
};

const addUpdateTrigger: AddRoutes = (api) => {
  addRoute(api, updateTrigger, async (input) => {
    const { body, params, principal } = input;
    const { name } = await reachableTrigger(input, params.trigger);
    if (body.start !== undefined) reachableAgent(input, body.start);
    const changed = await triggersOf(input).update(name, triggerOptions(input, body), {
      by: principal.actor,
    });
    return { status: 200, body: triggerAnswer(changed) };
  });
};

const addHistory: AddRoutes = (api) => {
  addRoute(api, listHistory, async (input) => {
    const { name } = await reachableTrigger(input, input.params.trigger);
    const history = await triggersOf(input).history(name, { limit: input.query.limit });
    return { status: 200, body: { history: [...history] } };
  });
};

/** Returns a trigger as answers have it. */
function triggerAnswer({ notify, on, ...trigger }: TriggerInfo): TriggerAnswer {
  const { channels, user } = notify ?? {};
  return {
    ...(trigger as Omit<TriggerAnswer, 'notify' | 'on'>),
    on: { ...on, kind: String(on['kind']) },
    ...(user === undefined
      ? {}
      : { notify: { user, ...(channels === undefined ? {} : { channels: [...channels] }) } }),
  };
}

/** Triggers: listed, made, looked at and changed. */
export const addTriggerRoutes: AddRoutes = (api, parts) => {
  const all = [addListTriggers, addCreateTrigger, addGetTrigger, addUpdateTrigger, addHistory];
  for (const add of all) add(api, parts);
};
