import { checkOptions } from '../../base/invalid-option.ts';
import { isFunction, isNonEmptyText } from '../../base/options.ts';
import { visibleText } from '../../base/text/visible-text.ts';
import type { Channel } from '../channel.ts';
import { plainText } from '../delivery/notice-text.ts';
import { channelOf } from '../send-notice.ts';

export interface ConsoleChannelOptions {
  /** @default 'console' */
  readonly name?: string;
  /** Function that takes the text. @default `console.log` */
  readonly print?: (text: string) => void;
}

/** A channel that prints notices, for development. Characters that control a terminal are shown. */
export function consoleChannel(options: ConsoleChannelOptions = {}): Channel {
  checkOptions('consoleChannel', options, { name: isNonEmptyText, print: isFunction });
  const { name = 'console', print = (text: string) => console.log(text) } = options;
  return channelOf(name, false, async (notice) => {
    const to = `To ${notice.tenant}/${notice.user}: `;
    print(visibleText(to + plainText(notice)));
    return { channel: name };
  });
}
