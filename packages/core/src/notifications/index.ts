export type { Channel, SendContext, SendReceipt } from './channel.ts';
export { type ConsoleChannelOptions, consoleChannel } from './channels/console.ts';
export { type SlackChannelOptions, slackChannel } from './channels/slack.ts';
export { type SmsChannelOptions, smsChannel } from './channels/sms.ts';
export { type TelegramChannelOptions, telegramChannel } from './channels/telegram.ts';
export { NotificationFailedError, type NotificationFailure } from './errors.ts';
export type { HttpChannelOptions } from './http/options.ts';
export type { Notice, NoticeAction, NoticeReference, Recipient } from './notice.ts';
export type { FindAddress } from './send-notice.ts';
