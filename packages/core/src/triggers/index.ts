export {
  type OutgoingWebhook,
  signWebhook,
  type WebhookHeaders,
} from '../base/webhooks/sign-webhook.ts';
export type { WebhookSecret, WebhookSecrets } from '../base/webhooks/webhook-keys.ts';
export {
  type IncomingWebhook,
  type RefusedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookRefusalReason,
} from './webhooks/verify-webhook.ts';
