import type { JsonValue } from '../base/json.ts';

/** Replaces the ids that a provider gave to calls: each provider numbers them as it likes. */
export function withoutProviderIds(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutProviderIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'toolCallId' ? '…' : withoutProviderIds(part as JsonValue),
    ]),
  );
}
