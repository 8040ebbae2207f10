import type { z } from 'zod';
import type { agentSchema } from '../schemas/agent.ts';
import type {
  answerSchema,
  batchSchema,
  linkOptionsSchema,
  linkSchema,
  operationResultSchema,
  outcomesSchema,
  requestQuerySchema,
  requestSchema,
  standingListSchema,
} from '../schemas/approval.ts';
import type { auditPageSchema, auditQuerySchema } from '../schemas/audit.ts';
import type { meSchema } from '../schemas/caller.ts';
import type { uiMessagesSchema } from '../schemas/chat.ts';
import type {
  evalComparisonQuerySchema,
  evalComparisonSchema,
  evalDetailsSchema,
  evalPageSchema,
  evalQuerySchema,
} from '../schemas/eval.ts';
import type { eventPageSchema, eventQuerySchema, transcriptSchema } from '../schemas/event.ts';
import type { newForkSchema } from '../schemas/fork.ts';
import type { healthSchema, readinessSchema } from '../schemas/health.ts';
import type { issuedKeySchema, keySchema, newKeySchema, rotationSchema } from '../schemas/key.ts';
import type { momentQuerySchema, momentSchema } from '../schemas/moment.ts';
import type { newNoticeSchema, noticePageSchema, noticesQuerySchema } from '../schemas/notice.ts';
import type { outlineQuerySchema, outlineSchema } from '../schemas/outline.ts';
import type { planQuerySchema, plansSchema } from '../schemas/plans/plan.ts';
import type { promptSchema } from '../schemas/prompt.ts';
import type { newPublishedEventSchema } from '../schemas/published-event.ts';
import type { reopeningSchema, toldOutcomeSchema } from '../schemas/repair.ts';
import type { differenceSchema, replayOptionsSchema, replaySchema } from '../schemas/replay.ts';
import type {
  newRunSchema,
  runOutlineSchema,
  runSchema,
  runsQuerySchema,
  startedRunSchema,
} from '../schemas/run.ts';
import type {
  controlSchema,
  interruptSchema,
  messageSchema,
  newSessionSchema,
  sessionDetailsSchema,
  sessionQuerySchema,
  sessionSchema,
  stateSchema,
} from '../schemas/session.ts';
import type {
  newTaskSchema,
  submittedTaskSchema,
  taskExplanationSchema,
  taskSchema,
  tasksQuerySchema,
} from '../schemas/task.ts';
import type {
  newTriggerSchema,
  scheduleSchema,
  triggerChangeSchema,
  triggerHistorySchema,
  triggerSchema,
  triggersQuerySchema,
} from '../schemas/trigger.ts';
import type { toolUsageSchema, usagePageSchema, usageQuerySchema } from '../schemas/usage.ts';
import type {
  decisionPageSchema,
  decisionsQuerySchema,
  explanationQuerySchema,
  explanationSchema,
  failurePageSchema,
  failuresQuerySchema,
  treeQuerySchema,
  treeSchema,
} from '../schemas/view.ts';

// Types of the client are made from the schemas that the server checks and documents. They cannot
// drift apart.

/** A query, of which everything may be left out. */
type QueryOf<Schema extends z.ZodType> = {
  readonly [Name in keyof z.output<Schema>]?: z.output<Schema>[Name];
};
/** A query without the place where a page begins: lists take care of that. */
type ListQueryOf<Schema extends z.ZodType> = Omit<QueryOf<Schema>, 'cursor'>;

export type NewSession = z.input<typeof newSessionSchema>;
export type SessionListQuery = ListQueryOf<typeof sessionQuerySchema>;
export type ServerSession = z.output<typeof sessionSchema>;
export type ServerSessionDetails = z.output<typeof sessionDetailsSchema>;
export type NewFork = z.input<typeof newForkSchema>;
export type SessionState = z.output<typeof stateSchema>;
export type EventQuery = QueryOf<typeof eventQuerySchema>;
export type EventPage = z.output<typeof eventPageSchema>;
export type OutlineQuery = QueryOf<typeof outlineQuerySchema>;
export type Outline = z.output<typeof outlineSchema>;
export type MomentQuery = QueryOf<typeof momentQuerySchema>;
export type Moment = z.output<typeof momentSchema>;
export type PlanQuery = QueryOf<typeof planQuerySchema>;
export type SessionPlans = z.output<typeof plansSchema>;
export type TreeQuery = QueryOf<typeof treeQuerySchema>;
export type SessionTree = z.output<typeof treeSchema>;
export type DecisionQuery = QueryOf<typeof decisionsQuerySchema>;
export type DecisionPage = z.output<typeof decisionPageSchema>;
export type ExplanationQuery = QueryOf<typeof explanationQuerySchema>;
export type RunExplanation = z.output<typeof explanationSchema>;
export type FailureQuery = QueryOf<typeof failuresQuerySchema>;
export type FailurePage = z.output<typeof failurePageSchema>;
export type TranscriptEntries = z.output<typeof transcriptSchema>['entries'];
export type ServerReplay = z.output<typeof replaySchema>;
export type ServerReplayOptions = z.input<typeof replayOptionsSchema>;
export type SessionDifference = z.output<typeof differenceSchema>;
export type ServerPrompt = z.output<typeof promptSchema>;
export type NewMessage = Omit<z.input<typeof messageSchema>, 'text'>;
export type Interruption = z.input<typeof interruptSchema>;
export type SessionControl = z.input<typeof controlSchema>;
export type ToldOutcome = Omit<z.input<typeof toldOutcomeSchema>, 'callId'>;
export type Reopening = z.input<typeof reopeningSchema>;

export type ChatMessages = z.output<typeof uiMessagesSchema>;

export type ServerRequest = z.output<typeof requestSchema>;
export type RequestListQuery = ListQueryOf<typeof requestQuerySchema>;
export type StandingApprovals = z.output<typeof standingListSchema>['approvals'];
export type Answer = z.input<typeof answerSchema>;
export type BatchAnswers = z.input<typeof batchSchema>['answers'];
export type AnswerOutcomes = z.output<typeof outcomesSchema>['outcomes'];
export type LinkOptions = z.input<typeof linkOptionsSchema>;
export type Link = z.output<typeof linkSchema>;
export type OperationResult = z.input<typeof operationResultSchema>;

export type NewRun = z.input<typeof newRunSchema>;
export type StartedServerRun = z.output<typeof startedRunSchema>;
export type ServerRunOutline = z.output<typeof runOutlineSchema>;
export type RunListQuery = ListQueryOf<typeof runsQuerySchema>;
/** A run; `output` is as the agent gave it, which nobody checks here. */
export type ServerRun<Output = unknown> = Omit<z.output<typeof runSchema>, 'output'> & {
  readonly output?: Output;
};

export type Me = z.output<typeof meSchema>;

export type Health = z.output<typeof healthSchema>;
export type Readiness = z.output<typeof readinessSchema>;

export type UsageQuery = QueryOf<typeof usageQuerySchema>;
export type UsagePage = z.output<typeof usagePageSchema>;
/** Calls of tools and rounds of agents. */
export type ToolUsagePage = z.output<typeof toolUsageSchema>;
export type SessionUsage = UsagePage['sessions'][number];

export type ServerAgent = z.output<typeof agentSchema>;

export type NewTask = z.input<typeof newTaskSchema>;
export type TaskListQuery = QueryOf<typeof tasksQuerySchema>;
export type SubmittedServerTask = z.output<typeof submittedTaskSchema>;
/** A task; `result` is as the agent gave it, which nobody checks here. */
export type ServerTask<Output = unknown> = Omit<z.output<typeof taskSchema>, 'result'> & {
  readonly result?: Output;
};
export type ServerTaskExplanation = z.output<typeof taskExplanationSchema>;
export type ServerTaskPriority = ServerTask['priority'];
export type ServerTaskState = ServerTask['state'];

export type NewTrigger = z.input<typeof newTriggerSchema>;
export type TriggerChange = z.input<typeof triggerChangeSchema>;
export type TriggerListQuery = QueryOf<typeof triggersQuerySchema>;
/** A schedule, as `cron`, `every` and `at` of `adjutant/triggers` make it. */
export type TriggerSchedule = z.input<typeof scheduleSchema>;
export type ServerTrigger = z.output<typeof triggerSchema>;
export type ServerTriggerStatus = ServerTrigger['status'];
export type ServerTriggerHistoryEntry = z.output<typeof triggerHistorySchema>['history'][number];
export type NewNotice = z.input<typeof newNoticeSchema>;
export type NoticeListQuery = ListQueryOf<typeof noticesQuerySchema>;
export type ServerNotice = z.output<typeof noticePageSchema>['notices'][number];
export type NewPublishedEvent = z.input<typeof newPublishedEventSchema>;

export type ServerKey = z.output<typeof keySchema>;
/** A key with its credential, which is shown only once. */
export type IssuedServerKey = z.output<typeof issuedKeySchema>;
export type NewKey = z.input<typeof newKeySchema>;
export type KeyRotation = z.input<typeof rotationSchema>;
export type AuditQuery = ListQueryOf<typeof auditQuerySchema>;
export type AuditEntry = z.output<typeof auditPageSchema>['entries'][number];

/** A kept report of an eval in the list, or the reason why the file is none. */
export type KeptEval = z.output<typeof evalPageSchema>['reports'][number];
export type EvalQuery = QueryOf<typeof evalQuerySchema>;
export type EvalDetails = z.output<typeof evalDetailsSchema>;
export type EvalComparisonQuery = Omit<QueryOf<typeof evalComparisonQuerySchema>, 'with'>;
export type EvalComparison = z.output<typeof evalComparisonSchema>;
