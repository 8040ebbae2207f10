import { isAdjutantError } from 'adjutant';
import { defined } from 'adjutant/text';
import { isBegunBefore, newId } from '../../http/new-id.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { addRoute, defineRoute, type RouteInput } from '../../http/route.ts';
import { reasonSchema } from '../../schemas/session.ts';
import {
  acceptedTriggerSchema,
  triggerFiringSchema,
  triggerPathSchema,
} from '../../schemas/trigger.ts';
import { reachableTrigger, triggersOf } from './reachable-trigger.ts';

const tag = 'Triggers';
const answers = { 202: { description: 'The command is stored', schema: acceptedTriggerSchema } };
const whenDone =
  'It is done when the answer comes, unless another process has the trigger for longer than a ' +
  'second: then that one does it.';

const controls = [
  {
    action: 'pause',
    status: 'paused',
    operationId: 'pauseTrigger',
    summary: 'Lets a trigger not fire until it is resumed',
  },
  {
    action: 'resume',
    status: 'active',
    operationId: 'resumeTrigger',
    summary: 'Lets a paused or disabled trigger fire again',
  },
  {
    action: 'disable',
    status: 'disabled',
    operationId: 'disableTrigger',
    summary: 'Takes a trigger out of use until it is resumed',
  },
] as const;

const deleteTrigger = defineRoute({
  method: 'delete',
  path: '/v1/triggers/{trigger}',
  permission: 'operate',
  operationId: 'deleteTrigger',
  tag,
  summary: 'Ends a trigger and cancels its open work',
  description:
    'Its history stays. One of the same name that is made later is another trigger. ' + whenDone,
  params: triggerPathSchema,
  answers,
});

const fireTrigger = defineRoute({
  method: 'post',
  path: '/v1/triggers/{trigger}/fire',
  permission: 'operate',
  operationId: 'fireTrigger',
  tag,
  summary: 'Fires a trigger now, whatever its schedule',
  description:
    'Once for a `key`, however often it is sent. What becomes of it while earlier work goes on ' +
    'is decided by `overlap` of the trigger; its history says so.',
  params: triggerPathSchema,
  body: triggerFiringSchema,
  isBodyOptional: true,
  answers,
});

type Target = RouteInput<{ readonly trigger: string }, unknown, unknown>;

/** Adds the routes that control a trigger, whichever process fires it. */
export const addTriggerControlRoutes: AddRoutes = (api) => {
  for (const { action, status, operationId, summary } of controls) {
    addRoute(
      api,
      {
        method: 'post',
        path: `/v1/triggers/{trigger}/${action}`,
        permission: 'operate',
        operationId,
        tag,
        summary,
        description: `What is due while it does not fire is not made up for. ${whenDone}`,
        params: triggerPathSchema,
        body: reasonSchema,
        isBodyOptional: true,
        answers,
      },
      (input) =>
        controlled(input, status, (name) =>
          triggersOf(input)[action](name, control(input, input.body)),
        ),
    );
  }
  addRoute(api, deleteTrigger, (input) =>
    controlled(input, 'deleted', (name) => triggersOf(input).delete(name, control(input))),
  );
  addRoute(api, fireTrigger, async (input) => {
    const { key = newId(input, 'firing'), ...body } = input.body;
    return controlled(input, undefined, (name) =>
      triggersOf(input).fire(name, { ...control(input, body), key }),
    );
  });
};

function control({ principal }: Target, { reason }: { readonly reason?: string | undefined } = {}) {
  return { by: principal.actor, ...defined({ reason }) };
}

/** @param after status of the trigger when the command has been carried out */
async function controlled(
  input: Target,
  after: string | undefined,
  act: (name: string) => Promise<void>,
) {
  const { name } = await reachableTrigger(input, input.params.trigger);
  try {
    await act(name);
  } catch (error) {
    // The request was begun before, and is what has brought it there.
    const isDone = isAdjutantError(error, 'trigger_state') && error.data['status'] === after;
    if (!isDone || !isBegunBefore(input)) throw error;
  }
  return { status: 202, body: { trigger: name, status: 'accepted' as const } } as const;
}
