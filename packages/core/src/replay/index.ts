export {
  type ArchiveReport,
  archiveSession,
  restoreArchive,
} from '../ledger-file/archive-session.ts';
export {
  ArchiveRefusedError,
  InvalidLedgerFileError,
  LedgerFileTooNewError,
  RedactionIncompleteError,
} from '../ledger-file/errors.ts';
export { type ExportOptions, exportLedger } from '../ledger-file/export-ledger.ts';
export type { RedactedValue } from '../ledger-file/known-values.ts';
export {
  type LedgerFile,
  ledgerFileText,
  type RedactionRecord,
  type WrittenPattern,
} from '../ledger-file/ledger-file.ts';
export {
  parseLedgerFile,
  type ReadLedgerFileOptions,
  readLedgerFile,
} from '../ledger-file/read-ledger-file.ts';
export type { RedactOptions } from '../ledger-file/redaction-rules.ts';
export { replayFile } from '../ledger-file/replay-file.ts';
export { writeLedgerFile } from '../ledger-file/write-ledger-file.ts';
export { checkSessions } from './check/check-sessions.ts';
export type {
  CheckOptions,
  CheckReport,
  SessionCheck,
  SessionVerdict,
} from './check/session-check.ts';
export { diffLedgers, type LedgerDifference } from './diff-ledgers.ts';
export type { Difference, Divergence, DivergenceKind } from './divergence.ts';
export { divergenceText } from './divergence-text.ts';
export { type RecordedLedger, recordedLedgerOf } from './recorded-ledger.ts';
export { type ReplayReport, replay } from './replay.ts';
export type { ReplayOptions } from './replay-options.ts';
