/** Numbers of what an encryption has sealed, for each kind of content. */
export interface SealedCounts {
  sessions: number;
  events: number;
  requests: number;
  inbox: number;
  shared: number;
  blobs: number;
  /** Listed rows, such as tasks. */
  rows: number;
  /** Messages to other sessions that wait. */
  sends: number;
}

export function noCounts(): SealedCounts {
  return { sessions: 0, events: 0, requests: 0, inbox: 0, shared: 0, blobs: 0, rows: 0, sends: 0 };
}
