/**
 * Time of an operation by the store's clock, in epoch milliseconds. It never falls, even when the
 * clocks of processes and machines do.
 */
export interface StoreTime {
  readonly now: number;
}
