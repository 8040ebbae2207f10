export type { Channel, SendContext, SendReceipt } from './channel.ts';
export { type ConsoleChannelOptions, consoleChannel } from './channels/console.ts';
export { type SlackChannelOptions, slackChannel } from './channels/slack.ts';
export { type SmsChannelOptions, smsChannel } from './channels/sms.ts';
export { type TelegramChannelOptions, telegramChannel } from './channels/telegram.ts';
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
export { NotificationFailedError, type NotificationFailure } from './errors.ts';
export type { HttpChannelOptions } from './http/options.ts';
export type { Notice, NoticeAction, NoticeReference, Recipient } from './notice.ts';
export type { FindAddress } from './send-notice.ts';
