import { isAdjutantError, type Runtime, type TokenOptions } from 'adjutant';
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

/** Address of the page, where people reach the server. */
export function pageAddress(publicUrl: string): string {
  return `${publicUrl.replace(/\/$/, '')}${approvalPath}`;
}

/** Options of a link. */
export interface LinkOptions extends TokenOptions {
  /** Tenant of the request. @default that of the server's app */
  readonly tenant?: string;
}

/**
 * Makes a link to the page of a request.
 * @param address of the page; `undefined`: the one that the app knows
 */
export async function linkOf(
  app: Runtime,
  address: string | undefined,
  requestId: string,
  { tenant = app.tenant, ...options }: LinkOptions,
): Promise<string> {
  const { requests } = tenant === app.tenant ? app : app.tenants.get(tenant);
  if (address === undefined) return requests.link(requestId, options);
  return `${address}/${await requests.token(requestId, options)}`;
}

/** A token as it stands in a link. */
export interface LinkedToken {
  readonly token: string;
  /** The app of the tenant whose request it may be. */
  readonly app: Runtime;
}

/**
 * Finds whose token stands in a link. A token names its tenant. In links of older builds the tenant
 * stands behind the token; it is not signed, and needs not be: a request id is of one tenant only.
 * But it is not looked at before the signature has been found to fit, so that nobody makes the
 * server look after tenants of their invention.
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
