import type { Api } from './parts.ts';

/** The OpenAPI 3.1 document of a server's routes, made of the schemas that validate. */
export function openApiDocument(api: Api): object {
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Adjutant',
      version: '1',
      description: 'Runs of agents as background jobs, their ledgers as streams, and what they wait for.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
}
