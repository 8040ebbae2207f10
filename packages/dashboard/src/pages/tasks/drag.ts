import type { ServerTask, ServerTaskPriority } from '@adjutant/server/client';

/** A task that is dragged, and the place it is let go at. */
export interface Drag {
  readonly dragged: ServerTask | undefined;
  /** Place that the pointer is over. */
  readonly over: ServerTaskPriority | 'front' | undefined;
  readonly enter: (place: ServerTaskPriority | 'front') => void;
  readonly begin: (task: ServerTask) => void;
  readonly end: () => void;
  readonly drop: (place: ServerTaskPriority | 'front') => void;
}
