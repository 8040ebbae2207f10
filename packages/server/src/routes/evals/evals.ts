import { type EvalReports, evalReports } from 'adjutant/eval';
import { defined } from 'adjutant/text';
import type { AddRoutes, Api, ServerParts } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import type { Asking } from '../../http/reachable.ts';
import { addRoute } from '../../http/route.ts';
import {
  evalComparisonQuerySchema,
  evalComparisonSchema,
  evalDetailsSchema,
  evalListQuerySchema,
  evalPageSchema,
  evalPathSchema,
  evalQuerySchema,
} from '../../schemas/eval.ts';

/** Adds the routes of the reports of evals that lie in the folder of the server. */
export const addEvalRoutes: AddRoutes = (api, parts) => {
  const { evals } = parts.options;
  const kept = evals === undefined ? undefined : evalReports(evals);
  /** @throws RequestRefusedError for callers that may not see all of the app */
  const reportsFor = ({ app, principal }: Asking): EvalReports => {
    const isBound = principal.user !== undefined || principal.agents !== undefined;
    if (isBound || app.tenant !== parts.app.tenant)
      throw new RequestRefusedError(
        403,
        'forbidden',
        'Reports of evals have conversations of all agents of the app, and your credential is ' +
          'bound to a part of it, or to another tenant.',
      );
    if (kept !== undefined) return kept;
    throw new RequestRefusedError(
      409,
      'evals_unavailable',
      'This server has no folder of reports of evals. Give it one: evals: { folder }.',
    );
  };
  addList(api, parts, reportsFor);
  addDetails(api, parts, reportsFor);
  addComparison(api, parts, reportsFor);
};

type ReportsFor = (asking: Asking) => EvalReports;

function addList(api: Api, { replays }: ServerParts, reportsFor: ReportsFor): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/evals',
      permission: 'read',
      operationId: 'listEvals',
      tag: 'Evals',
      summary: 'Lists the reports of evals that are kept, those of the newest runs first',
      description:
        'Of the folder that the option `evals` names. A file that is no report is listed with ' +
        'its `problem`. Callers that are bound to a user, to agents or to another tenant are ' +
        'refused.',
      query: evalListQuerySchema,
      answers: { 200: { description: 'A page of the list.', schema: evalPageSchema } },
    },
    async (input) => {
      const { limit, cursor } = input.query;
      const reports = reportsFor(input);
      const page = await replays.answerInTurn(input.principal, input.request.signal, () =>
        reports.list({ limit, ...defined({ cursor }) }),
      );
      return { status: 200, body: copied(page) };
    },
  );
}

function addDetails(api: Api, { replays }: ServerParts, reportsFor: ReportsFor): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/evals/{id}',
      permission: 'read',
      operationId: 'getEval',
      tag: 'Evals',
      summary: 'A report of an eval, with a page of its cases',
      description: 'A page may have fewer cases than were asked for, where they are long.',
      params: evalPathSchema,
      query: evalQuerySchema,
      answers: { 200: { description: 'The report', schema: evalDetailsSchema } },
    },
    async (input) => {
      const { variant, outcome, text, limit, cursor } = input.query;
      const reports = reportsFor(input);
      const details = await replays.answerInTurn(input.principal, input.request.signal, () =>
        reports.show(input.params.id, {
          limit,
          ...defined({ variant, outcome, text, cursor }),
        }),
      );
      return { status: 200, body: copied(details) };
    },
  );
}

function addComparison(api: Api, { replays }: ServerParts, reportsFor: ReportsFor): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/evals/{id}/comparison',
      permission: 'read',
      operationId: 'compareEvals',
      tag: 'Evals',
      summary: 'Two variants of evals, of one report or of two, case by case',
      description:
        'The report of the address is the baseline. A case is `better` or `worse` by its pass ' +
        'rate, and where that is the same by the mean of its scores.',
      params: evalPathSchema,
      query: evalComparisonQuerySchema,
      answers: { 200: { description: 'The comparison', schema: evalComparisonSchema } },
    },
    async (input) => {
      const { with: other, variant, withVariant, limit, cursor } = input.query;
      const reports = reportsFor(input);
      const compared = await replays.answerInTurn(input.principal, input.request.signal, () =>
        reports.compare(input.params.id, other, {
          limit,
          ...defined({ variant, withVariant, cursor }),
        }),
      );
      return { status: 200, body: copied(compared) };
    },
  );
}

type Copied<Value> = Value extends readonly (infer Item)[]
  ? Copied<Item>[]
  : Value extends object
    ? { -readonly [Key in keyof Value]: Copied<Value[Key]> }
    : Value;

/** The same value, in the type of an answer: schemas know no `readonly`. */
function copied<Value>(value: Value): Copied<Value> {
  return value as Copied<Value>;
}
