import { openApiDocument } from '../http/open-api.ts';
import type { AddRoutes, Api, ServerParts } from '../http/parts.ts';
import { addStreamRoutes } from './streams.ts';

const all: readonly AddRoutes[] = [addStreamRoutes];

/** Adds the routes of the server, and the document that describes them. */
export function addAllRoutes(api: Api, parts: ServerParts): void {
  for (const add of all) add(api, parts);
  api.get('/v1/openapi.json', (context) => context.json(openApiDocument(api)));
}
