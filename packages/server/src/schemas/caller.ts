import { z } from '@hono/zod-openapi';
import { roles } from '../access/principal.ts';
import { timestampSchema } from './common.ts';

const longestCredential = 8_192;

export const signInSchema = z
  .strictObject({
    credential: z
      .string()
      .min(1)
      .max(longestCredential)
      .openapi({ description: 'An API key or a JSON Web Token.', example: 'adj_…_…' }),
  })
  .openapi('SignIn');

export const meSchema = z
  .strictObject({
    id: z.string().openapi({
      description: 'Name of the caller in the audit log: `key:<id>`, `jwt:<subject>`, `local`.',
      example: 'key:7k3m9q2x8v5c1b4n',
    }),
    tenant: z.string().openapi({ example: 'default' }),
    app: z.string().openapi({ description: 'Name of the app that is served.', example: 'shop' }),
    roles: z.array(z.enum(roles)),
    permissions: z
      .array(z.enum(['read', 'chat', 'operate', 'audit', 'manage']))
      .openapi({ description: 'Permissions that the roles give.', example: ['read'] }),
    user: z
      .string()
      .optional()
      .openapi({ description: 'Only sessions of this user exist for the caller.' }),
    agents: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Only these agents exist for the caller.' }),
    isLocal: z.boolean().openapi({
      description: 'The server asks for no credentials: callers of its machine may do everything.',
    }),
    isSignedIn: z
      .boolean()
      .openapi({ description: 'The caller came with the cookie of a sign-in.' }),
    expiresAt: timestampSchema
      .optional()
      .openapi({ description: 'When the credential, or the sign-in, ends by itself.' }),
    version: z.string().openapi({ description: 'Version of @adjutant/server.', example: '0.1.0' }),
    store: z.strictObject({
      kind: z.string().openapi({
        description: '`memory`, `sqlite`, `postgres`, or `other` for a store of your own.',
        example: 'sqlite',
      }),
    }),
  })
  .openapi('Me');
