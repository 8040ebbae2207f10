import { guard } from '../access/guard.ts';
import { openApiDocument } from '../http/open-api.ts';
import type { AddRoutes, Api, ServerParts } from '../http/parts.ts';
import { addApprovalLinkRoutes } from './approval-links.ts';
import { addApprovalPageRoutes } from './approval-page.ts';
import { addApprovalRoutes } from './approvals.ts';
import { addAuditRoutes } from './audit.ts';
import { addHealthRoutes } from './health.ts';
import { addKeyRoutes } from './keys.ts';
import { addMetricsRoutes } from './metrics.ts';
import { addOperationRoutes } from './operations.ts';
import { addStreamRoutes } from './streams.ts';

const all: readonly AddRoutes[] = [
  addApprovalRoutes,
  addApprovalLinkRoutes,
  addApprovalPageRoutes,
  addOperationRoutes,
  addHealthRoutes,
  addMetricsRoutes,
  addAuditRoutes,
  addKeyRoutes,
  addStreamRoutes,
];

/** Adds the routes of the server, and the document that describes them. */
export function addAllRoutes(api: Api, parts: ServerParts): void {
  for (const add of all) add(api, parts);
  api.get('/v1/openapi.json', guard('public', 'getOpenApi'), (context) => context.json(openApiDocument(api)));
}
