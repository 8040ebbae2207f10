import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface VertexCredentials {
  /** A credentials file that Google's library exchanges for `accessToken` at a local server. */
  readonly path: string;
  readonly accessToken: string;
  close(): Promise<void>;
}

/**
 * Credentials of an external account, because their token server may be any: no request leaves the
 * machine.
 */
export async function makeVertexCredentials(): Promise<VertexCredentials> {
  const accessToken = 'token-of-the-local-server';
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        access_token: accessToken,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 3600,
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-vertex-'));
  const path = join(folder, 'credentials.json');
  await writeFile(join(folder, 'subject-token'), 'subject');
  await writeFile(
    path,
    JSON.stringify({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
      credential_source: { file: join(folder, 'subject-token') },
    }),
  );
  return {
    path,
    accessToken,
    async close() {
      await rm(folder, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
