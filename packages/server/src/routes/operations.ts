import { isAdjutantError, type JsonValue } from 'adjutant';
import { RequestNotFoundError } from 'adjutant/errors';
import { isBegunBefore } from '../http/new-id.ts';
import type { AddRoutes } from '../http/parts.ts';
import type { Asking } from '../http/reachable.ts';
import { isRequestInReach } from '../http/reachable-request.ts';
import { addRoute } from '../http/route.ts';
import {
  operationParamsSchema,
  operationResultSchema,
  operationSchema,
} from '../schemas/approval.ts';

/** The results of what tools have begun elsewhere. */
export const addOperationRoutes: AddRoutes = (api) => {
  addRoute(
    api,
    {
      method: 'post',
      path: '/v1/resume/{operationId}',
      permission: 'operate',
      operationId: 'settleOperation',
      tag: 'Operations',
      summary: 'Gives the result of an operation that a tool began',
      description:
        'Exactly one result counts, from whatever process; a second one is ' +
        '`request_settled`. A hook can be faster than the ledger: `request_not_found` then ' +
        'means that it should try again.',
      params: operationParamsSchema,
      body: operationResultSchema,
      answers: {
        200: { description: 'The result counts, and the run goes on.', schema: operationSchema },
      },
    },
    async (input) => {
      const { operationId } = input.params;
      const { result, failed } = input.body;
      const by = input.principal.actor;
      await assertInReach(input, operationId);
      try {
        await input.app.requests.settleOperation(operationId, result as JsonValue, { failed, by });
      } catch (error) {
        const isSettled =
          isAdjutantError(error, 'request_settled') && error.data['status'] === 'answered';
        if (!isSettled || !isBegunBefore(input) || error.data['by'] !== by) throw error;
      }
      return { status: 200, body: { operationId, status: 'settled' } };
    },
  );
};

/**
 * @throws RequestNotFoundError when calls of sessions wait for it that the caller may not know of
 */
async function assertInReach(input: Asking, operationId: string): Promise<void> {
  const { app, principal } = input;
  if (principal.user === undefined && principal.agents === undefined) return;
  const rows = await app.store.for({ tenant: app.tenant, app: app.app }).requests({ operationId });
  for (const row of rows) {
    if (!(await isRequestInReach(input, row)))
      throw new RequestNotFoundError({ requestId: operationId });
  }
}
