/**
 * `npm run http-reference`: writes docs/reference/http-api.md from the OpenAPI document of the
 * server.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { server } from '@adjutant/server';
import { runtime } from 'adjutant';
import { repositoryRoot } from './command.ts';
import { renderHttpReference } from './http-reference.ts';

const app = runtime({ app: 'documented' });
const api = server(app);
writeFileSync(
  join(repositoryRoot, 'docs/reference/http-api.md'),
  renderHttpReference(api.openApi()),
);
await api.close();
await app.close();
