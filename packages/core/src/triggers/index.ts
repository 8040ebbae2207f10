export {
  type OutgoingWebhook,
  signWebhook,
  type WebhookHeaders,
} from '../base/webhooks/sign-webhook.ts';
export type { WebhookSecret, WebhookSecrets } from '../base/webhooks/webhook-keys.ts';
export { InvalidTriggerError } from './errors.ts';
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
  type IncomingWebhook,
  type RefusedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRefusalReason,
} from './webhooks/verify-webhook.ts';
