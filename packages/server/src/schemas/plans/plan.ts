import { z } from '@hono/zod-openapi';
import { idSchema, jsonSchema, seqSchema, timestampSchema } from '../common.ts';

const ids = z.array(z.string());

export const planQuerySchema = z.strictObject({
  at: seqSchema.optional().openapi({
    description: 'Only the events up to this one. Default: the last one.',
  }),
  run: idSchema.optional().openapi({ description: 'Only plans of this run. Default: all.' }),
});

const budgetSchema = z
  .object({
    rounds: z.number().optional(),
    tokens: z.number().optional(),
    cost: z.number().optional().openapi({ description: 'US dollars.' }),
  })
  .openapi('SubtaskBudget');

const planned = {
  id: z.string().openapi({ example: 't1' }),
  key: z.string().openapi({
    description: 'Last part of the path of its invocations: its id, with `~n` for other content.',
    example: 't1~2',
  }),
  description: z.string(),
  dependsOn: ids,
  worker: z.string().optional(),
  tool: z.string().optional(),
  args: z.record(z.string(), jsonSchema).optional().openapi({
    description: 'Its input, with references as `{"$from": "t1.output.total"}`.',
  }),
  expectedOutput: z.string().optional(),
  critical: z.boolean().optional(),
  budget: budgetSchema.optional(),
};

const plannedSubtaskSchema = z.object(planned).openapi('PlannedSubtask');

const errorSchema = z.object({ name: z.string(), code: z.string(), message: z.string() });

const statuses = [
  ...(['pending', 'blocked', 'executing', 'waiting'] as const),
  ...(['completed', 'failed', 'cancelled'] as const),
] as const;

const subtaskSchema = z
  .object({
    ...planned,
    status: z.enum(statuses).openapi({
      description: '`blocked`: after others. `waiting`: for somebody outside.',
    }),
    attempts: z.int().min(0),
    path: z.string().optional().openapi({ description: 'Path of the last attempt.' }),
    by: z.string().optional().openapi({ description: 'Name of what does it.' }),
    output: jsonSchema.optional(),
    error: errorSchema.optional(),
    startedAt: timestampSchema.optional(),
    endedAt: timestampSchema.optional(),
  })
  .openapi('PlanSubtask');

const revisionSchema = z
  .object({
    revision: z.int().min(1),
    seq: z.int().min(1).openapi({ description: 'Place of its event.', example: 12 }),
    at: timestampSchema,
    by: z.string().openapi({ description: '`runtime` for the planner.', example: 'user:ann' }),
    hash: z.string().openapi({ description: 'People approve a revision by it.' }),
    diff: z
      .object({ added: ids, changed: ids, removed: ids, kept: ids })
      .openapi({ description: 'Ids, against the revision before.' }),
    cancels: ids.openapi({ description: 'Keys of the subtasks under way that it cancelled.' }),
    subtasks: z.array(plannedSubtaskSchema),
  })
  .openapi('PlanRevision');

const planSchema = z
  .object({
    path: z.string().openapi({ description: 'Path of the plan.', example: 'run_1' }),
    name: z.string().openapi({ example: 'trip' }),
    goal: z.string().optional(),
    status: z.enum([
      ...(['planning', 'reviewing', 'executing', 'replanning'] as const),
      ...(['completed', 'failed', 'cancelled'] as const),
    ]),
    error: errorSchema.optional(),
    subtasks: z.array(subtaskSchema).openapi({ description: 'Of the latest revision.' }),
    revisions: z.array(revisionSchema),
    progress: z.object({ completed: z.int().min(0), total: z.int().min(0) }),
    criticalPath: ids.openapi({
      description: 'Ids of the chain of dependent subtasks that takes the longest.',
    }),
  })
  .openapi('Plan');

export const plansSchema = z
  .strictObject({
    plans: z.array(planSchema),
    at: z.int().min(0).openapi({ description: 'Place of the last event that was considered.' }),
  })
  .openapi('Plans');
