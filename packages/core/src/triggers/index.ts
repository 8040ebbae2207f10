export {
  type OutgoingWebhook,
  signWebhook,
  type WebhookHeaders,
} from '../base/webhooks/sign-webhook.ts';
export type { WebhookSecret, WebhookSecrets } from '../base/webhooks/webhook-keys.ts';
export {
  type ConditionFinding,
  type ConditionFunction,
  type ConditionOptions,
  type ConditionTrigger,
  condition,
} from './declarations/condition.ts';
export { type EventTrigger, event, type TriggerEvent } from './declarations/event.ts';
export type { TriggerOn } from './declarations/trigger-on.ts';
export { type WebhookOptions, type WebhookTrigger, webhook } from './declarations/webhook.ts';
export { InvalidTriggerError } from './errors.ts';
export { type Cause, type CauseResult, type CausingTrigger, causeOf } from './firings/cause.ts';
export {
  type ConditionChange,
  type ConditionCheck,
  type ConditionOutcome,
  type ConditionState,
  conditionEdge,
} from './firings/condition-edge.ts';
export {
  type DueFirings,
  dueFirings,
  type FiringQuestion,
} from './firings/due-firings.ts';
export type { BeganAgain, FiringDecision, InstantsLeftOut } from './firings/firing-decision.ts';
export {
  type HourlyAllowance,
  type HourlyQuestion,
  hourlyAllowance,
} from './firings/hourly-limit.ts';
export type { DueFiring } from './firings/missed.ts';
export {
  type OpenFiring,
  type OverlapAction,
  type OverlapDecision,
  type OverlapPolicy,
  type OverlapQuestion,
  type OverlapReason,
  overlapDecision,
} from './firings/overlap.ts';
export {
  type FiringOptions,
  type FiringPolicy,
  firingPolicy,
  type MissedPolicy,
} from './firings/policy.ts';
export type { Duration } from './schedules/duration.ts';
export {
  type InstantQuestion,
  nextInstant,
  nextInstants,
  type PreviewOptions,
  type TriggerInstant,
} from './schedules/next-instant.ts';
export type {
  CronSchedule,
  IntervalSchedule,
  OnceSchedule,
  Schedule,
} from './schedules/schedule.ts';
export {
  type AtOptions,
  at,
  type CronOptions,
  cron,
  type EveryOptions,
  every,
  scheduleOf,
} from './schedules/schedules.ts';
export {
  type ActionOptions,
  action,
  type TriggerContext,
} from './service/action.ts';
export type { TriggerControlOptions, TriggerListOptions } from './service/call-options.ts';
export { TriggerNotFoundError, TriggerStateError, WebhookRefusedError } from './service/errors.ts';
export {
  type Trigger,
  type TriggerNotice,
  type TriggerOptions,
  trigger,
} from './service/trigger.ts';
export type { TriggerHistoryEntry } from './service/trigger-history.ts';
export type { TriggerInfo } from './service/trigger-row.ts';
export type { TriggerService } from './service/trigger-service.ts';
export type { LastFiring, TriggerStatus } from './service/trigger-state.ts';
export { triggers } from './service/triggers.ts';
export type { TriggerCommands, TriggerToolsOptions } from './tools/own-triggers.ts';
export { triggerTools } from './tools/trigger-tools.ts';
export {
  type IncomingWebhook,
  type RefusedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRefusalReason,
} from './webhooks/verify-webhook.ts';
