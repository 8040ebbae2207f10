export type { Channel, SendContext, SendReceipt } from './channel.ts';
export { type ConsoleChannelOptions, consoleChannel } from './channels/console.ts';
export { type EmailChannelOptions, type EmailTransport, emailChannel } from './channels/email.ts';
export { type SlackChannelOptions, slackChannel } from './channels/slack.ts';
export { type SmsChannelOptions, smsChannel } from './channels/sms.ts';
export { type StreamChannelOptions, streamChannel } from './channels/stream.ts';
export { type TelegramChannelOptions, telegramChannel } from './channels/telegram.ts';
export { type WebPushChannelOptions, webPushChannel } from './channels/web-push.ts';
export { type WebhookChannelOptions, webhookChannel } from './channels/webhook.ts';
export { joinNotices } from './delivery/join-notices.ts';
export {
  type AttemptRequest,
  type ChannelEnd,
  type NextAttempt,
  planAttempt,
  type SendAttempt,
} from './delivery/plan-attempt.ts';
export {
  type DeliveryPlan,
  type DeliveryRequest,
  type DroppedNotice,
  planDelivery,
  type WaitingNotice,
} from './delivery/plan-delivery.ts';
export { isQuiet, type QuietHours, sendingAllowedAt } from './delivery/quiet-hours.ts';
export type { Mailbox } from './email/address.ts';
export type { EmailMessage } from './email/message.ts';
export type { SmtpOptions } from './email/smtp.ts';
export { NotificationFailedError, type NotificationFailure } from './errors.ts';
export type { HttpChannelOptions } from './http/options.ts';
export type { Notice, NoticeAction, NoticeReference, Recipient } from './notice.ts';
export type { PushSubscription, VapidKeys } from './push/subscription.ts';
export type { FindAddress } from './send-notice.ts';
export type { ListedNotice, ListedNotices, NoticeAttempt } from './service/notice-list.ts';
export type {
  NoticeOptions,
  NotificationHistoryEntry,
  NotificationService,
} from './service/notification-service.ts';
export { type NotificationsOptions, notifications } from './service/notifications.ts';
export { type NoticeHub, type NoticeHubOptions, noticeHub } from './stream/notice-hub.ts';
export type { NoticeStream, StreamedNotice } from './stream/notice-stream.ts';
