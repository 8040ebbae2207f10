import type { Api } from './parts.ts';
import { idempotencyParameter } from './route.ts';

/** Subjects of the routes, in the order in which they are shown. */
const tags: readonly { readonly name: string; readonly description: string }[] = [
  {
    name: 'Runs',
    description: 'Agents at work, as background jobs: they go on when nobody listens.',
  },
  { name: 'Tasks', description: 'Runs that wait for their turn, by priority.' },
  { name: 'Triggers', description: 'Triggers, which start tasks by themselves, and their events.' },
  { name: 'Notices', description: 'Messages to people.' },
  { name: 'Sessions', description: 'Conversations with agents, and what is said to them.' },
  { name: 'Ledgers', description: 'Everything that happened in a session, in order.' },
  { name: 'Streams', description: 'What happens, while it happens.' },
  { name: 'Approvals', description: 'What runs ask of people, and the answers.' },
  { name: 'Operations', description: 'Results of what tools began and goes on elsewhere.' },
  { name: 'Agents', description: 'What can be run.' },
  { name: 'Usage', description: 'Tokens and cost.' },
  { name: 'Evals', description: 'Kept reports of evals, and what changed from one to another.' },
  { name: 'Callers', description: 'Who calls, and the sign-in of pages.' },
  { name: 'Keys', description: 'API keys.' },
  { name: 'Audit', description: 'Who did what.' },
  { name: 'Health', description: 'Whether the server works, and what it counts.' },
];

/** Adds what routes refer to. */
export function addComponents({ openAPIRegistry }: Api): void {
  openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key of `adjutant keys create`, or a JSON Web Token. A server without `auth` ' +
      'needs none, and takes calls of its own machine only.',
  });
  openAPIRegistry.registerComponent('parameters', idempotencyParameter, {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to send the request again: under the same key it is carried out once, ' +
      'and answered in the same way.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '6f1e5b0a-0b7e-4c0e-9d0a-2f6a3c1d9e55',
  });
}

/** The OpenAPI 3.1 document of a server's routes, made of the schemas that validate. */
export function openApiDocument(api: Api): object {
  const document = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Adjutant',
      version: '1',
      description:
        'Runs of agents as background jobs, their ledgers as streams, and what they wait for.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: [{ url: '/' }],
  });
  const used = new Set(
    Object.values(document.paths ?? {}).flatMap((path) =>
      Object.values(path ?? {}).flatMap(tagsOf),
    ),
  );
  return {
    ...document,
    tags: [
      ...tags.filter(({ name }) => used.has(name)),
      ...[...used].filter(isUndescribed).map((name) => ({ name })),
    ],
  };
}

function tagsOf(operation: unknown): readonly string[] {
  return (operation as { readonly tags?: readonly string[] }).tags ?? [];
}

function isUndescribed(tag: string): boolean {
  return !tags.some(({ name }) => name === tag);
}
