export {
  type OutgoingWebhook,
  signWebhook,
  type WebhookHeaders,
} from '../base/webhooks/sign-webhook.ts';
export type { WebhookSecret, WebhookSecrets } from '../base/webhooks/webhook-keys.ts';
export { InvalidTriggerError } from './errors.ts';
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
