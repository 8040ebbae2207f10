import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isNonEmptyText } from '../../base/options.ts';
import type { Channel } from '../channel.ts';
import { channelOf, refused } from '../send-notice.ts';
import type { NoticeHub } from '../stream/notice-hub.ts';

export interface StreamChannelOptions {
  /** @default 'stream' */
  readonly name?: string;
}

/**
 * A channel to the open streams of a person in this process. Without one the notice is refused with
 * `no_recipient`, so that another channel takes it.
 * @throws InvalidOptionError
 */
export function streamChannel(hub: NoticeHub, options: StreamChannelOptions = {}): Channel {
  checkOptions('streamChannel', options, { name: isNonEmptyText });
  if (typeof hub?.publish !== 'function')
    throw new InvalidOptionError({
      function: 'streamChannel',
      reason: 'its first argument must be a hub, made by noticeHub()',
    });
  const { name = 'stream' } = options;
  return channelOf(name, true, async (notice, { idempotencyKey }) => {
    if (hub.publish(idempotencyKey, notice) === 0)
      throw refused(name, notice, 'no_recipient', 'the user has no open stream in this process');
    return { channel: name };
  });
}
