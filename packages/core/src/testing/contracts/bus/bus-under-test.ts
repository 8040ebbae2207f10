import type { EventBus } from '../../../bus/event-bus.ts';

/** A bus to be tested, with nothing published and nobody subscribed. */
export interface BusUnderTest {
  readonly bus: EventBus;
  /**
   * The same bus as another process sees it, over connections of its own.
   * @default the bus itself, for one that does not leave its process
   */
  readonly other?: EventBus;
  /**
   * Cuts all connections, and mends them. What is published meanwhile may be lost.
   * @param meanwhile called while nothing is connected
   * @default tests about lost connections are skipped
   */
  readonly interrupt?: (meanwhile: () => Promise<void>) => Promise<void>;
  /** Called at the end of the test; closes what `make` opened. */
  cleanup(): Promise<void>;
}

export type MakeBus = () => Promise<BusUnderTest>;

/** One test of the contract. */
export interface BusTest extends Omit<BusUnderTest, 'other' | 'cleanup'> {
  readonly other: EventBus;
  readonly skip: (reason: string) => void;
}

export type DefineBusTest = (name: string, body: (test: BusTest) => Promise<void>) => void;
