export { KeyUnavailableError, SealBrokenError, SegmentKeyMissingError } from './errors.ts';
export type { EncryptionReport, ExistingOptions } from './existing/encrypt-existing.ts';
export type { KeyProvider, WrappedKey } from './keys/key-provider.ts';
export { type LocalKey, type LocalKeysOptions, localKeys } from './keys/local-keys.ts';
export type { RotationReport } from './rotation.ts';
export { type EncryptedOptions, type EncryptedStore, encrypted } from './store.ts';
