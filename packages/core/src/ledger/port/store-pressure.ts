/** The load of a store, by which a server refuses work in time. */
export interface StorePressure {
  /** Operations that were asked of the store by this process and have no answer. */
  readonly waiting: number;
  /** True from a write that failed because the disk is full, up to one that finds room. */
  readonly isFull: boolean;
  /** Tries, while `isFull`, whether there is room again, by a write that leaves nothing behind. */
  hasRoom(): Promise<boolean>;
}
