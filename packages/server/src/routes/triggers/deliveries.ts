import { isAdjutantError, type Runtime } from 'adjutant';
import type { TriggerInfo } from 'adjutant/triggers';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { deliverySchema, triggerPathSchema } from '../../schemas/trigger.ts';
import { triggersOf } from './reachable-trigger.ts';

const deliverWebhook = defineRoute({
  method: 'post',
  path: '/v1/triggers/{trigger}/deliveries',
  permission: 'public',
  operationId: 'deliverWebhook',
  tag: 'Triggers',
  summary: 'Takes in a delivery of a webhook, which needs no credential but its signature',
  description:
    'Signed by Standard Webhooks over the body as it came, of any media type: the headers ' +
    '`webhook-id`, `webhook-timestamp` and `webhook-signature`. The trigger is one of the tenant ' +
    'of the app itself. Refusals are `webhook_refused`, and their `data.reason` says why: 400 ' +
    '`missing_header`, `malformed_header`; 401 `bad_signature`, `too_old`, `too_new`; 409 ' +
    '`conflict`, when another body had the same id; 413 `too_large`. A sender repeats a delivery ' +
    'until it is answered with 202.',
  params: triggerPathSchema,
  answers: {
    202: { description: 'It is stored, now or by a delivery before', schema: deliverySchema },
  },
});

/** Statuses by the reason of a refusal. */
const statuses: Readonly<Record<string, ContentfulStatusCode>> = {
  missing_header: 400,
  malformed_header: 400,
  bad_signature: 401,
  too_old: 401,
  too_new: 401,
  conflict: 409,
  too_large: 413,
};

/** Deliveries of other systems to triggers on webhooks. */
export const addDeliveryRoutes: AddRoutes = (api) => {
  addRoute(api, deliverWebhook, async ({ app, params, request }) => {
    const name = params.trigger;
    try {
      const body = await bytesOf(request, await largestBody(app, name));
      const { headers } = request;
      const { duplicate } = await triggersOf({ app }).receive(name, { headers, body });
      return { status: 202, body: { status: 'accepted' as const, duplicate } };
    } catch (error) {
      throw refusalOf(error, name);
    }
  });
};

/**
 * Bytes of the largest body of a trigger on a webhook.
 * @throws TriggerNotFoundError, RequestRefusedError
 */
async function largestBody(app: Runtime, name: string): Promise<number> {
  const { on, status }: TriggerInfo = await triggersOf({ app }).get(name);
  if (on['kind'] !== 'webhook' || status === 'deleted') throw noWebhook(name);
  return Number(on['maxBytes']);
}

/**
 * Reads a body as it came, and no more of it than allowed.
 * @throws RequestRefusedError `webhook_refused` (413)
 */
async function bytesOf({ body, headers }: Request, most: number): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > most) throw tooLarge(most);
  const pieces: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > most) throw tooLarge(most);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(most: number): RequestRefusedError {
  return refused('too_large', `The body has more than ${most} bytes.`);
}

/** Returns what a sender is told, which is nothing of other triggers. */
function refusalOf(error: unknown, name: string): unknown {
  if (isAdjutantError(error, 'webhook_refused')) {
    const { message, data } = error;
    return refused(String(data['reason']), message);
  }
  const isUnknown =
    isAdjutantError(error, 'trigger_not_found') || isAdjutantError(error, 'triggers_unavailable');
  return isUnknown ? noWebhook(name) : error;
}

function refused(reason: string, message: string): RequestRefusedError {
  return new RequestRefusedError(statuses[reason] ?? 400, 'webhook_refused', message, { reason });
}

/** The one answer for a name that is not known, and for a trigger that is no webhook. */
function noWebhook(name: string): RequestRefusedError {
  return new RequestRefusedError(
    404,
    'trigger_not_found',
    `There is no trigger "${name}" that takes deliveries.`,
  );
}
