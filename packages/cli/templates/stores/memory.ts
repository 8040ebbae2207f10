import { memoryStore } from 'adjutant';

/** Sessions are in the memory of the process, and end with it. */
export const store = memoryStore();
