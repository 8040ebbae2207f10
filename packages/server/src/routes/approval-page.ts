import { z } from '@hono/zod-openapi';
import { isAdjutantError, type RequestAnswer, type TokenView } from 'adjutant';
import type { TokenRefusal } from 'adjutant/errors';
import { approvalPath, readLink } from '../http/approval-links.ts';
import type { AddRoutes, Api, ServerParts } from '../http/parts.ts';
import { addRoute } from '../http/route.ts';
import {
  askingPage,
  decidedPage,
  hasChoice,
  longestReason,
  refusedPage,
} from '../pages/approval-page.ts';

type Decision = TokenView['decisions'][number];

const paramsSchema = z.object({
  token: z.string().min(1).openapi({ description: 'The credential: whoever has it can decide.' }),
});
const htmlType = 'text/html';
/** People look at these, too. */
const refusedAnswers = {
  '4XX': {
    description: 'A page that says why nothing can be decided by the link.',
    contentType: htmlType,
  },
  '5XX': { description: 'A page that says that something went wrong.', contentType: htmlType },
} as const;

/**
 * The page behind a signed link. Looking at it changes nothing, so that whatever follows links in
 * mails may; its buttons decide.
 */
export const addApprovalPageRoutes: AddRoutes = (api, parts) => {
  addShowing(api, parts);
  addDeciding(api, parts);
};

function addShowing(api: Api, parts: ServerParts): void {
  addRoute(
    api,
    {
      method: 'get',
      path: `${approvalPath}/{token}`,
      permission: 'public',
      operationId: 'showApproval',
      tag: 'Approvals',
      summary: 'The page by which somebody decides',
      description: 'Plain HTML without JavaScript. Changes nothing.',
      params: paramsSchema,
      answers: {
        200: {
          description: 'What is asked, and a form with the decisions.',
          contentType: htmlType,
        },
        ...refusedAnswers,
      },
    },
    async ({ params }) => {
      try {
        const { app, token } = await readLink(params.token, parts);
        const view = await app.requests.show(token);
        return hasChoice(view.decisions) ? askingPage(view) : refusedPage(403, ...noChoice);
      } catch (error) {
        return refusalPage(error);
      }
    },
  );
}

function addDeciding(api: Api, parts: ServerParts): void {
  addRoute(
    api,
    {
      method: 'post',
      path: `${approvalPath}/{token}`,
      permission: 'public',
      operationId: 'decideApproval',
      tag: 'Approvals',
      summary: "Takes the decision of the page's form",
      description:
        'A form (application/x-www-form-urlencoded) with `decision` and, if one likes, ' +
        `\`reason\` of up to ${longestReason} characters.`,
      params: paramsSchema,
      answers: {
        200: { description: 'The decision counts.', contentType: htmlType },
        ...refusedAnswers,
      },
    },
    async ({ params, request, context }) => {
      if (!isSentByPage(request, parts.options.publicUrl))
        return refusedPage(403, ...sentElsewhere);
      const form = await context.req.parseBody().catch(() => ({}) as Record<string, unknown>);
      const { decision, reason } = form as Record<string, unknown>;
      const said = typeof reason === 'string' ? reason.replaceAll('\r\n', '\n').trim() : '';
      if (typeof decision !== 'string' || decision === '') return refusedPage(400, ...noDecision);
      if (said.length > longestReason) return refusedPage(400, ...tooLong);
      try {
        const { app, token } = await readLink(params.token, parts);
        const summary = await summaryOf(app.requests.show(token));
        const answer = {
          decision: decision as Decision,
          ...(said === '' ? {} : { reason: said }),
        } satisfies RequestAnswer;
        // Refuses what the token is not good for, and has the ledger say so.
        await app.requests.decide(token, answer);
        return decidedPage(answer.decision, summary);
      } catch (error) {
        return refusalPage(error);
      }
    },
  );
}

/**
 * Returns the summary of the request. A refused token is refused where it is used, because only
 * that is recorded.
 */
async function summaryOf(view: Promise<TokenView>): Promise<string> {
  try {
    return (await view).request.summary;
  } catch (error) {
    if (isAdjutantError(error, 'approval_token')) return '';
    throw error;
  }
}

/**
 * True when the page itself sent a form, as far as the browser says. A page that sends no referrer
 * has the origin `null`. Then, and without a browser, only the token counts, which others cannot
 * know.
 */
function isSentByPage({ headers, url }: Request, publicUrl: string | undefined): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return false;
  const origin = headers.get('origin');
  if (origin === null || origin === 'null') return true;
  return (
    origin === new URL(url).origin ||
    (publicUrl !== undefined && origin === new URL(publicUrl).origin)
  );
}

type Told = readonly [title: string, what: string];

const noChoice: Told = [
  'This link decides nothing',
  'What is asked needs more than a button. Answer it where you use the agent.',
];
const sentElsewhere: Told = [
  'Nothing was decided',
  'The form was sent from another site. Open the link and decide there.',
];
const noDecision: Told = [
  'Nothing was decided',
  'No decision was sent. Open the link again and use one of its buttons.',
];
const tooLong: Told = [
  'Nothing was decided',
  `The reason may have ${longestReason} characters. Go back and shorten it.`,
];

const broken: Told = [
  'This link is not valid',
  'It may have been cut off or changed on its way. Open it from the original message, or ' +
    'ask for a new one. Programs get whole links from `server.link(…)` or from ' +
    'POST /v1/approvals/{request}/link.',
];
const over: Told = [
  'This link has expired',
  'Its time is over. If the question is still open, ask for a new link.',
];

const refusals: Readonly<Record<TokenRefusal, readonly [status: number, ...Told]>> = {
  malformed: [404, ...broken],
  unknown_request: [
    404,
    'There is nothing to decide',
    'What this link was made for is not here: it was deleted with its session, or the link is of ' +
      'another server. Ask for a new one where you got it.',
  ],
  unknown_key: [403, ...broken],
  forged: [403, ...broken],
  expired: [410, ...over],
  changed: [
    410,
    'This link is out of date',
    'What it was made for is asked anew. Use the link of the newer message.',
  ],
  already_used: [
    410,
    'This has been answered',
    'Somebody has decided, or the question was withdrawn. The link cannot be used again.',
  ],
  not_signed_for: [403, 'Nothing was decided', 'This link is not for that decision.'],
};

/** @throws what is not the visitor's to know */
function refusalPage(error: unknown): Promise<Response> {
  if (isAdjutantError(error, 'approval_token'))
    return refusedPage(...refusals[error.data['reason'] as TokenRefusal]);
  // An app without keys has never made a link.
  if (isAdjutantError(error, 'invalid_runtime')) return refusedPage(404, ...broken);
  if (isAdjutantError(error, 'may_not_decide'))
    return refusedPage(
      403,
      'Nothing was decided',
      'Only people who are named may decide this, and the link names nobody.',
    );
  if (isAdjutantError(error, 'input_mismatch')) return refusedPage(400, ...noChoice);
  throw error;
}
