export {
  type BlobReference,
  findReferences,
  isBlobReference,
  replaceReferences,
} from '../ledger/blobs/blob.ts';
export type {
  AppendReceipt,
  Batch,
  Claim,
  ClaimOptions,
  DeleteOptions,
  DueSession,
  FoldSnapshot,
  Head,
  InboxEntry,
  InboxItem,
  LedgerHead,
  LedgerStore,
  ListOptions,
  PostReceipt,
  ReadRange,
  ReleaseOptions,
  ReleaseReceipt,
  RequestDraft,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RequestStatus,
  SessionSummary,
  SharedValue,
  SharedWrite,
  StoreAdmin,
  UnreadableEvent,
} from '../ledger/port.ts';
export type { EventDecoder } from '../ledger/upcast/upcaster.ts';
export { decodeEvent } from '../ledger/upcast.ts';
export { isOwnerGone, processOwner } from './owner.ts';
