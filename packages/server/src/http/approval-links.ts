import { isAdjutantError, type Runtime } from 'adjutant';
import type { ServerParts } from './parts.ts';
import { RequestRefusedError } from './problem.ts';

/** Where links lead. */
export const approvalPath = '/approve';

/** True when a path serves pages for people. */
export function isApprovalPage(path: string): boolean {
  return path.startsWith(`${approvalPath}/`);
}

/** Longest path in logs, in characters. */
const longestPath = 1_000;

/**
 * A path for logs: as it was sent, so that it has no control characters and is one line, and
 * without the token of a link in it.
 * @param path decoded, as routes match it: a link may be spelled in many ways
 */
export function pathForLogs({
  path,
  url,
}: {
  readonly path: string;
  readonly url: string;
}): string {
  if (isApprovalPage(path)) return `${approvalPath}/…`;
  const { pathname } = new URL(url);
  return pathname.length > longestPath ? `${pathname.slice(0, longestPath)}…` : pathname;
}

/**
 * Returns the text of a link for a token: the token and, unless it is the server's own tenant, the
 * tenant.
 */
export function linkTextOf(token: string, tenant: string, own: string): string {
  return tenant === own ? token : `${token}~${Buffer.from(tenant).toString('base64url')}`;
}

/** A token as it stands in a link. */
export interface LinkedToken {
  readonly token: string;
  /** The app of the tenant whose request it may be. */
  readonly app: Runtime;
}

/**
 * Finds whose token stands in a link. The name of the tenant is not signed, and needs not be: a
 * request id is of one tenant only. But it is not looked at before the signature has been found to
 * fit, so that nobody makes the server look after tenants of their invention.
 */
export async function readLink(
  text: string,
  { app }: Pick<ServerParts, 'app'>,
): Promise<LinkedToken> {
  const [token = '', tenantText, ...rest] = text.split('~');
  const tenant =
    tenantText === undefined ? '' : Buffer.from(tenantText, 'base64url').toString('utf8');
  if (tenant === '' || rest.length > 0) return { token: text, app };
  const isOfAnother = await isUnknownHere(app, token);
  return { token, app: isOfAnother ? app.tenants.get(tenant) : app };
}

async function isUnknownHere(app: Runtime, token: string): Promise<boolean> {
  try {
    await app.requests.show(token);
    return false;
  } catch (error) {
    return isAdjutantError(error, 'approval_token') && error.data['reason'] === 'unknown_request';
  }
}

/**
 * @throws RequestRefusedError `approval_links_unavailable` in the place of the error that a runtime
 * without keys throws
 */
export function refuseWithoutKeys(error: unknown): never {
  if (!isAdjutantError(error, 'invalid_runtime')) throw error;
  throw new RequestRefusedError(
    409,
    'approval_links_unavailable',
    'This app has no keys to sign links with: runtime({ approvals: { keys: [{ id, secret }] } }).',
  );
}
