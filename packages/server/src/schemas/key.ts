import { z } from '@hono/zod-openapi';
import { roles } from '../access/principal.ts';
import { idSchema, timestampSchema } from './common.ts';

const dayMs = 86_400_000;
const longestName = 200;
const mostAgents = 100;

const nameSchema = idSchema.max(longestName);
const roleSchema = z.enum(roles).openapi({
  description:
    '`viewer` looks; `user` also chats, bound to a `user`; `auditor` also ' +
    'reads the audit log; `operator` also acts; `admin` may ' +
    'do everything.',
});
const lifeSchema = z
  .int()
  .min(1)
  .max(3_650 * dayMs)
  .openapi({
    description:
      'Milliseconds from now on for which the key is accepted. @default 31536000000 (365 days)',
    example: 30 * dayMs,
  });

export const keySchema = z
  .strictObject({
    id: z.string().openapi({
      description: 'Names the key; not secret. It stays the same when the key is rotated.',
      example: '7k3m9q2x8v5c1b4n',
    }),
    name: z.string().openapi({ example: 'ci' }),
    tenant: z.string().openapi({ example: 'default' }),
    roles: z.array(roleSchema),
    user: z
      .string()
      .optional()
      .openapi({ description: 'Only sessions of this user exist for it.' }),
    agents: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Only these agents exist for it.' }),
    createdAt: timestampSchema,
    createdBy: z.string().openapi({ example: 'operator:key:2d4f6h8k1m3p5r7t' }),
    expiresAt: timestampSchema,
    rotatedAt: timestampSchema.optional(),
    previousUntil: timestampSchema
      .optional()
      .openapi({ description: 'Until when the secret before the last rotation is accepted, too.' }),
    revokedAt: timestampSchema.optional(),
  })
  .openapi('ApiKey', { description: 'An API key, without its secret.' });

export const issuedKeySchema = z
  .strictObject({
    key: keySchema,
    credential: z.string().openapi({
      description: 'For `Authorization: Bearer …`. Shown now and never again.',
      example: 'adj_7k3m9q2x8v5c1b4n_…',
    }),
  })
  .openapi('IssuedApiKey');

export const keysSchema = z.strictObject({ keys: z.array(keySchema) }).openapi('ApiKeys');

export const newKeySchema = z
  .strictObject({
    name: nameSchema.openapi({ description: 'What it is for.', example: 'ci' }),
    roles: z
      .array(roleSchema)
      .min(1)
      .max(roles.length)
      .openapi({ example: ['operator'] }),
    user: nameSchema.optional().openapi({
      description:
        'Only sessions of this user exist for it, and what it does is recorded as done by ' +
        'the user. A name without a kind: it cannot begin with `operator:`, `key:` and the ' +
        'like.',
    }),
    agents: z
      .array(nameSchema)
      .min(1)
      .max(mostAgents)
      .optional()
      .openapi({ description: 'Only these agents exist for it.' }),
    expiresInMs: lifeSchema.optional(),
  })
  .openapi('NewApiKey');

export const rotationSchema = z
  .strictObject({
    graceMs: z
      .int()
      .min(0)
      .max(30 * dayMs)
      .optional()
      .openapi({
        description:
          'Milliseconds for which the secret before is accepted, too. @default 86400000 (24 hours)',
        example: dayMs,
      }),
    expiresInMs: lifeSchema.optional(),
  })
  .openapi('KeyRotation');

export const keyPathSchema = z.strictObject({
  key: idSchema.openapi({ description: 'Id of the key.', example: '7k3m9q2x8v5c1b4n' }),
});
