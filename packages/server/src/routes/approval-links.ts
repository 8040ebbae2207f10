import { actorOf } from 'adjutant';
import { DecisionNotOfferedError, MayNotDecideError } from 'adjutant/errors';
import { defined } from 'adjutant/text';
import { isAllowed } from '../access/principal.ts';
import { pageAddress, refuseWithoutKeys } from '../http/approval-links.ts';
import type { AddRoutes } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { reachableRequest } from '../http/reachable-request.ts';
import { addRoute, type RouteInput } from '../http/route.ts';
import { hasChoice } from '../pages/approval-page.ts';
import { linkOptionsSchema, linkSchema, requestParamsSchema } from '../schemas/approval.ts';

/** Links by which people decide who have no access to the server. */
export const addApprovalLinkRoutes: AddRoutes = (api, parts) => {
  addRoute(
    api,
    {
      method: 'post',
      path: '/v1/approvals/{request}/link',
      permission: 'operate',
      operationId: 'linkRequest',
      tag: 'Approvals',
      summary: 'Makes a link by which somebody can decide',
      description:
        'The page behind it needs no JavaScript. The link is signed and bound to the ' +
        'request, to what was asked, to the decisions and to a time; it works once.',
      params: requestParamsSchema,
      body: linkOptionsSchema,
      isBodyOptional: true,
      answers: { 201: { description: 'The link.', schema: linkSchema } },
      // The answer is a credential, and making another link changes nothing.
      repeated: 'again',
    },
    async (input) => {
      const { app, principal } = input;
      const { request } = input.params;
      const { decisions, expiresAt, by: named } = input.body;
      const by =
        named !== undefined
          ? actorOf(named)
          : principal.user === undefined
            ? undefined
            : principal.actor;
      const { mayDecide } = await reachableRequest(input, request);
      if (by !== undefined) assertMayName(input, by);
      else if (mayDecide !== undefined)
        throw new MayNotDecideError({
          requestId: request,
          by: 'whoever has a link without `by`',
          mayDecide,
        });
      const options = defined({ decisions, expiresAt });
      const token = await app.requests
        .token(request, { ...options, ...defined({ by }) })
        .catch(refuseWithoutKeys);
      const view = await app.requests.show(token);
      if (!hasChoice(view.decisions))
        throw new DecisionNotOfferedError({
          requestId: request,
          decision: 'a link',
          options: view.request.options,
        });
      const { publicUrl = new URL(input.request.url).origin } = parts.options;
      const url = `${pageAddress(publicUrl)}/${token}`;
      return { status: 201, body: { url, token, expiresAt: view.expiresAt } };
    },
  );
};

/**
 * A caller that could make links in other people's names could decide in their names.
 * @param by with its kind
 */
function assertMayName(
  { principal }: Pick<RouteInput<unknown, unknown, unknown>, 'principal'>,
  by: string,
): void {
  if (by === principal.actor || (principal.user === undefined && isAllowed(principal, 'manage')))
    return;
  throw new RequestRefusedError(
    403,
    'forbidden',
    'A link in the name of somebody else needs the permission "manage".',
    { permission: 'manage' },
  );
}
