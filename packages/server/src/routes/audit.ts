import { type AuditEntry, auditApp } from '../access/audit/audit-entry.ts';
import { type AuditPlace, readAudit } from '../access/audit/audit-reader.ts';
import type { AddRoutes } from '../http/parts.ts';
import { RequestRefusedError } from '../http/problem.ts';
import { addRoute } from '../http/route.ts';
import { auditPageSchema, auditQuerySchema } from '../schemas/audit.ts';

/** Adds the route of the audit log: actions carried out and denied in the caller's tenant. */
export const addAuditRoutes: AddRoutes = (api, { access }) => {
  addRoute(
    api,
    {
      method: 'get',
      path: '/v1/audit',
      permission: 'audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary:
        'Lists what was done and what was denied in the tenant, by whom and from where, ' +
        'newest first',
      description:
        'Of all processes. Calls that only read are not in it, unless they were denied. ' +
        'Denials of callers without a valid credential are in the log of the tenant of the ' +
        'app.',
      query: auditQuerySchema,
      answers: { 200: { description: 'A page of the log.', schema: auditPageSchema } },
    },
    async ({ query: { cursor, ...query }, app, principal }) => {
      if (principal.user !== undefined || principal.agents !== undefined) {
        throw new RequestRefusedError(
          403,
          'forbidden',
          'The audit log is of the whole tenant, and your credential is bound to a part of it.',
        );
      }
      // Entries that this process has not written yet must be readable.
      await access.audit.flush();
      const ledgers = app.store.for({ tenant: app.tenant, app: auditApp(app.app) });
      const { entries, next } = await readAudit(ledgers, {
        ...query,
        after: cursor === undefined ? undefined : readCursor(cursor),
      });
      return {
        status: 200,
        body: {
          entries: entries.map(shown),
          ...(next === undefined ? {} : { cursor: writeCursor(next) }),
        },
      };
    },
  );
};

function shown(entry: AuditEntry) {
  return { ...entry, target: { ...entry.target } };
}

function writeCursor({ at, ledger, seq }: AuditPlace): string {
  return Buffer.from(JSON.stringify([at, ledger, seq])).toString('base64url');
}

/** @throws RequestRefusedError */
function readCursor(cursor: string): AuditPlace {
  const [at, ledger, seq] = parsed(cursor);
  if (!Number.isSafeInteger(at) || typeof ledger !== 'string' || !Number.isSafeInteger(seq)) {
    throw new RequestRefusedError(
      400,
      'invalid_cursor',
      'The cursor is none that this list gave. Take the one of the last page, or none.',
    );
  }
  return { at: at as number, ledger, seq: seq as number };
}

function parsed(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
