import { z } from '@hono/zod-openapi';
import { addComponents, openApiDocument } from '../http/open-api.ts';
import type { AddRoutes, Api, ServerParts } from '../http/parts.ts';
import { addRoute } from '../http/route.ts';
import { addAgentRoutes } from './agents.ts';
import { addApprovalLinkRoutes } from './approval-links.ts';
import { addApprovalPageRoutes } from './approval-page.ts';
import { addApprovalRoutes } from './approvals.ts';
import { addAuditRoutes } from './audit.ts';
import { addMeRoutes } from './callers/me.ts';
import { addSignInRoutes } from './callers/sign-in.ts';
import { addChatRoutes } from './chat.ts';
import { addChatMessagesRoutes } from './chat-messages.ts';
import { addControlRoutes } from './controls.ts';
import { addEvalRoutes } from './evals/evals.ts';
import { addHealthRoutes } from './health.ts';
import { addKeyRoutes } from './keys.ts';
import { addExportRoutes } from './ledgers/exports.ts';
import { addForkRoutes } from './ledgers/forks.ts';
import { addPromptRoutes } from './ledgers/prompts.ts';
import { addReplayRoutes } from './ledgers/replays.ts';
import { addLedgerRoutes } from './ledgers.ts';
import { addMetricsRoutes } from './metrics.ts';
import { addNoticeRoutes } from './notices/notices.ts';
import { addOperationRoutes } from './operations.ts';
import { addRepairRoutes } from './repairs.ts';
import { addRunLookupRoutes } from './run-lookup.ts';
import { addRunRoutes } from './runs.ts';
import { addSessionChangeRoutes } from './sessions/changes.ts';
import { addSessionRoutes } from './sessions.ts';
import { addSocketRoutes } from './socket.ts';
import { addStreamRoutes } from './streams.ts';
import { addTaskControlRoutes } from './tasks/controls.ts';
import { addTaskEventRoutes } from './tasks/events.ts';
import { addTaskRoutes } from './tasks/tasks.ts';
import { addTriggerControlRoutes } from './triggers/controls.ts';
import { addDeliveryRoutes } from './triggers/deliveries.ts';
import { addTriggerPreviewRoutes } from './triggers/previews.ts';
import { addPublishedEventRoutes } from './triggers/published-events.ts';
import { addTriggerRoutes } from './triggers/triggers.ts';
import { addUsageRoutes } from './usage/usage.ts';
import { addViewRoutes } from './views/index.ts';

const all: readonly AddRoutes[] = [
  addRunRoutes,
  addRunLookupRoutes,
  addSessionChangeRoutes,
  addSessionRoutes,
  addForkRoutes,
  addControlRoutes,
  addRepairRoutes,
  addLedgerRoutes,
  addViewRoutes,
  addPromptRoutes,
  addReplayRoutes,
  addExportRoutes,
  // Before the routes of one task, whose id would be `events`.
  addTaskEventRoutes,
  addTaskRoutes,
  addTaskControlRoutes,
  addTriggerRoutes,
  addTriggerControlRoutes,
  addTriggerPreviewRoutes,
  addDeliveryRoutes,
  addPublishedEventRoutes,
  addNoticeRoutes,
  addAgentRoutes,
  addUsageRoutes,
  addEvalRoutes,
  addApprovalRoutes,
  addApprovalLinkRoutes,
  addApprovalPageRoutes,
  addOperationRoutes,
  addHealthRoutes,
  addMetricsRoutes,
  addAuditRoutes,
  addKeyRoutes,
  addMeRoutes,
  addSignInRoutes,
  addStreamRoutes,
  addChatRoutes,
  addChatMessagesRoutes,
  addSocketRoutes,
];

/** Adds the routes of the server, and the document that describes them. */
export function addAllRoutes(api: Api, parts: ServerParts): void {
  addComponents(api);
  for (const add of all) add(api, parts);
  let document: object | undefined;
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/openapi.json',
      permission: 'public',
      operationId: 'getOpenApi',
      tag: 'Health',
      summary: 'This document',
      answers: {
        200: {
          description: 'The OpenAPI 3.1 document of the server',
          schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }),
        },
      },
    },
    () => {
      document ??= openApiDocument(api);
      return { status: 200, body: document as { openapi: string; paths: object } };
    },
  );
}
