/** The partitions of a store's table of events. */
export interface Partitions {
  readonly partitions: number;
  /** Events that were moved; 0 when the table had these partitions before. */
  readonly moved: number;
}
