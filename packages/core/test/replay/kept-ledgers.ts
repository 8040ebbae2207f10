import { agentLedgers } from './agent-ledgers.ts';
import { composedLedgers } from './composed-ledgers.ts';
import type { KeptLedger } from './recording.ts';

/** The ledgers that are kept in `fixtures`. */
export const keptLedgers: readonly KeptLedger[] = [...agentLedgers, ...composedLedgers];
