import { z } from '@hono/zod-openapi';
import { idSchema, runnableKinds } from './common.ts';

const schemaSchema = z
  .record(z.string(), z.unknown())
  .openapi('JsonSchema', { description: 'JSON Schema.' });

const toolSchema = z
  .strictObject({
    name: z.string().openapi({ example: 'refund' }),
    description: z.string(),
    shared: z.boolean().openapi({ description: 'Whether all agents of the app have it.' }),
    inputSchema: schemaSchema,
    outputSchema: schemaSchema.optional(),
    yieldSchema: schemaSchema
      .optional()
      .openapi({ description: 'What somebody outside must give before the call goes on.' }),
    approval: z
      .enum(['never', 'sometimes', 'always'])
      .openapi({ description: 'Whether somebody is asked before it runs.' }),
    requiresPermission: z
      .array(z.string())
      .openapi({ description: 'What the run must be allowed to do.', example: ['fs:write'] }),
    readOnly: z.boolean().openapi({ description: 'It changes nothing outside.' }),
    idempotent: z
      .boolean()
      .openapi({ description: 'Doing it twice with the same arguments is doing it once.' }),
    destructive: z.boolean().openapi({ description: 'It may destroy something.' }),
  })
  .openapi('Tool');
export type ToolAnswer = z.infer<typeof toolSchema>;

export const agentSchema = z
  .strictObject({
    name: z.string().openapi({ example: 'support' }),
    kind: z.enum(runnableKinds),
    description: z.string().optional(),
    version: z.string().optional(),
    inputSchema: schemaSchema
      .optional()
      .openapi({ description: 'What `data` of a run must fit; missing: anything, or nothing.' }),
    outputSchema: schemaSchema
      .optional()
      .openapi({ description: 'What it answers with; missing: any text.' }),
    parts: z
      .array(z.string())
      .optional()
      .openapi({ description: 'Names of what it runs; of a sequence, a parallel and a loop.' }),
    tools: z
      .array(toolSchema)
      .optional()
      .openapi({ description: 'What its model may call; of an agent.' }),
  })
  .openapi('Agent', { description: 'Something that can be run.' });
export type AgentAnswer = z.infer<typeof agentSchema>;

export const agentListSchema = z
  .strictObject({ agents: z.array(agentSchema) })
  .openapi('AgentList');

export const agentPathSchema = z.strictObject({
  agent: idSchema.openapi({ description: 'Name of the agent.', example: 'support' }),
});
