import type { EventSourceMessage } from 'eventsource-parser';
import type { FrameReader } from './follow.ts';
import type { ServerSession } from './types.ts';

/** Message of `sessions.changes`. */
export type SessionChange =
  | {
      /** Changes are told from now on. */
      readonly type: 'begun';
    }
  | {
      readonly type: 'changed';
      readonly session: string;
      /** Place of its last event. */
      readonly seq: number;
      readonly status: ServerSession['status'];
      readonly agent?: string;
      readonly title?: string;
    };

/** Reads the frames of `sessions.changes`. */
export const changeReader: FrameReader<SessionChange> = {
  request: () => ({}),
  take: ({ data, event }: EventSourceMessage) =>
    event === 'begun' || event === 'changed'
      ? [{ type: event, ...(JSON.parse(data) as object) } as SessionChange]
      : [],
};
